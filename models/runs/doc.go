// Package runs has conversations go on: an agent's reports of its run, people's messages to it, and the turns of the
// built-in agent.
//
// A run is a conversation. OpenRun opens one by its agent's own id, or finds it; OwnConversation finds the one for a
// request that names none; Say begins one with the built-in agent. Steer, Rename and SetOnReject are for its owner and
// admins.
//
// Reported: ReportEvents takes events, one after the other (report.go). An event is checked without the database
// (event.go), and its key identifies a repeat. A call (report_call.go) is joined to the request that its agent made
// for it, or adopted out of the agent's default conversation or from another system (report_outside.go), or gets its
// own row. A result (report_result.go) completes its call, or waits for it. A new message of the agent closes what the
// one before left open, and the end of the run all of it; CloseCall closes a call that is stuck.
//
// Said: Say stores a person's message, with the decision and the change of the budget that came with it; DecideIn is
// without words. FindCall and PendingCalls are how clients of the function-call API look up their requests.
//
// Worked on: the inbox of the built-in agent are rows of agent_inbox, each with a lease (claim.go). The caller that
// has claimed a run reads RunContext, sets energy aside by ReserveEnergy, asks the model, and stores its answer by
// StoreTurn (turns.go). RestRun, IdleRun and ReleaseRun give a run back; a caller whose claim was taken over gets
// CodeConflict, and nothing is stored.
//
// This room writes events, messages, turns, leases, and the titles of conversations. A change to a request, a budget
// or spent energy is a move of models/store, within the Tx of this room: Decide, Respond, WishBudget, AddReported,
// JoinReported, Adopt, CompleteCall, CloseCall, CancelBecause, RejectWith, ReserveEnergy, SettleEnergy and others. So
// a decision in words is checked like any other (I1, I4), and no turn spends more than is left (I14).
//
// A report is a claim: it is shown as the agent's, and decides nothing.
package runs
