// Package pages holds the screens, a folder for each area. An area has its templates, view models
// made by pure constructors from nouns and the time, tests, and golden files in testdata.
//
// An area may know those before it, never one behind it: words, lists, inputs, outcomes, budgets,
// connect, docs, nav, webhooks, account, people, agents, audit, insights, policies, system, requests, inbox,
// conversations. What several draw goes to the earliest of them that it belongs to, or to
// views/ui if it says nothing of requests or people.
//
// This folder itself has the tests that walk every state of the gallery, whatever its area:
// what each tells (seen), golden files, markup, and what the store gives. Those that need a
// browser are in browser; pagestest draws and reads for all tests.
package pages
