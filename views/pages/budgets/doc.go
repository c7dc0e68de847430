// Package budgets draws what a conversation or an agent may spend: the Gauge, the BurnChart, and the page and panel on
// which an owner changes the budget of a conversation.
//
// It only shows figures: the store counts spending where it stores the response (I14).
package budgets
