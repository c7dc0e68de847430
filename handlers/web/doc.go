// Package web puts the pages together: what people see and press in a browser. It knows people
// by their session's cookie and never reads Authorization; every form works without script.
//
// The pages are cut by area, a folder each. An area has one exported type, Screens, which embeds
// site.Site and lists its routes, each with the right that it asks for. An area may know those
// before it, never one behind it: site, nav, live, account, channels, people, agents, connect,
// audit, system, webhooks, request, grants, policy, inbox, conversation.
//
// What is drawn is in views/pages, by the same areas. This folder itself has the tests that walk
// all routes and all pages: who may, what is offered, what is stored, and that reading changes
// nothing (I15). They find a new route by themselves. webtest is the world that the tests of all
// areas share; those that need a browser are in browser.
package web
