// Package agents is a person's agents: their tokens, shown once, and the stops that refuse what they
// ask. Admins see everybody's.
package agents
