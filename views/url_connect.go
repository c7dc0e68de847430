package views

import "countersign/models"

// ConnectURL is where agents are connected, one way of doing so, for an agent (empty: none
// yet). It takes the POST that makes the agent's token.
func ConnectURL(way string, agent models.AgentID) string {
	return with("/connect", "way", way, "agent", string(agent))
}

// ReceivedURL answers with whether a request of an agent has come.
func ReceivedURL(way string, agent models.AgentID) string {
	return with("/connect/received", "way", way, "agent", string(agent))
}

// AgentTopic is the event sent when an agent asked for something.
func AgentTopic(id models.AgentID) string { return "agent:" + string(id) }
