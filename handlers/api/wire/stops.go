package wire

import "time"

// Stop is that a person stopped an agent, or all of them.
type Stop struct {
	StopID    string    `json:"stopId"`
	AgentID   *string   `json:"agentId" doc:"null: all agents"`
	AgentName *string   `json:"agentName"`
	Note      string    `json:"note" doc:"Why"`
	StoppedAt time.Time `json:"stoppedAt"`
	StoppedBy string    `json:"stoppedBy"`
}

// StopRequest stops one agent, or all.
type StopRequest struct {
	AgentID string `json:"agentId,omitempty" doc:"Which one; left out with all"`
	All     bool   `json:"all,omitzero" doc:"All agents, for admins"`
	Note    string `json:"note" doc:"Why; at most 500 bytes"`
}

// Stopped is a stop that was just made.
type Stopped struct {
	Stop

	Cancelled int `json:"cancelled" doc:"How many requests waited, and were cancelled"`
	Withdrawn int `json:"withdrawn" doc:"How many approvals were on their way to another system, and were cancelled before it received them"`
	InFlight  int `json:"inFlight" doc:"How many approvals were being sent to another system at that moment: they take effect if it accepts them"`
}

// StopList lists the stops in force.
type StopList struct {
	Stops []Stop `json:"stops"`
}

// StopLift ends a stop.
type StopLift struct {
	Note string `json:"note" doc:"Why it may go on; at most 500 bytes"`
}
