// Package system holds the pages of the installation, for admins: its health and figures, the
// ways to notify, and the other systems whose approvals are decided here (Upstreams).
package system
