package db

// Hints: through which index a query walks. Its author knows what SQLite's statistics may
// not tell: that what waits is little, whatever was kept. A dialect without hints has
// them empty.
const by = " INDEXED BY "

// By walks a query through an index.
func By(index string) string { return by + index }

// The indexes by which queries walk.
const (
	ByAgentInboxReady              = by + "agent_inbox_ready"
	ByConversationsParentRun       = by + "conversations_parent_run"
	ByConversationsReserved        = by + "conversations_reserved"
	ByConversationsRun             = by + "conversations_run"
	ByDeliveriesDue                = by + "deliveries_due"
	ByDeliveriesUntold             = by + "deliveries_untold"
	ByGrantsAll                    = by + "grants_all"
	ByGrantsLive                   = by + "grants_live"
	ByGrantsOwner                  = by + "grants_owner"
	ByGroupMembersIn               = by + "group_members_in"
	ByGroupMembersUser             = by + "group_members_user"
	ByGroupsInUse                  = by + "groups_in_use"
	ByMessagesHistory              = by + "messages_history"
	ByOutsideApprovalsLinked       = by + "outside_approvals_linked"
	ByOutsideApprovalsWaiting      = by + "outside_approvals_waiting"
	ByOutsideApprovalsWanted       = by + "outside_approvals_wanted"
	ByResponsesAgent               = by + "responses_agent"
	ByResponsesAgentToolUse        = by + "responses_agent_tool_use"
	ByResponsesApprovedHarm        = by + "responses_approved_harm"
	ByResponsesBatch               = by + "responses_batch"
	ByResponsesCascaded            = by + "responses_cascaded"
	ByResponsesFunctionCalls       = by + "responses_function_calls"
	ByResponsesGrant               = by + "responses_grant"
	ByResponsesHeld                = by + "responses_held"
	ByResponsesHistory             = by + "responses_history"
	ByResponsesOnePendingBudget    = by + "responses_one_pending_budget"
	ByResponsesOpen                = by + "responses_open"
	ByResponsesOpenInput           = by + "responses_open_input"
	ByResponsesPending             = by + "responses_pending"
	ByResponsesPendingAgent        = by + "responses_pending_agent"
	ByResponsesPendingConversation = by + "responses_pending_conversation"
	ByResponsesPendingGroups       = by + "responses_pending_groups"
	ByResponsesPendingProtocol     = by + "responses_pending_protocol"
	ByResponsesPendingSpoken       = by + "responses_pending_spoken"
	ByResponsesPendingUpstream     = by + "responses_pending_upstream"
	ByResponsesRejected            = by + "responses_rejected"
	ByResponsesRejectedTool        = by + "responses_rejected_tool"
	ByResponsesSettled             = by + "responses_settled"
	ByResponsesSettledOwner        = by + "responses_settled_owner"
	ByResponsesTool                = by + "responses_tool"
	ByResponsesToolUse             = by + "responses_tool_use"
	ByResponsesUnfinished          = by + "responses_unfinished"
	ByStopsStanding                = by + "stops_standing"
	ByReviewersSettled             = by + "reviewers_settled"
	ByReviewersToolUse             = by + "reviewers_tool_use"
	ByUpstreamsDue                 = by + "upstreams_due"
	ByUsersDisabled                = by + "users_disabled"
	ByVotesEdited                  = by + "votes_edited"
	ByVotesWaiting                 = by + "votes_waiting"
	ByWebSessionsUser              = by + "web_sessions_user"
	ByWithdrawalsResponse          = by + "withdrawals_response"
)
