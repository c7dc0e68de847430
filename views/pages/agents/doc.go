// Package agents holds the pages of agents and of what they may do without asking: an owner's
// agents and tokens, everybody's agents, stops, and pre-approvals (Grants), with the form that
// shows exactly which further calls would run.
package agents
