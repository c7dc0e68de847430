// Package web puts the pages together: what people see and press in a browser. It knows people by their session's
// cookie and never reads Authorization; every form works without script.
//
// Each area of the pages has its folder. An area has one exported type, Screens, which embeds site.Site and lists its
// routes, each with the right that it needs. An area may import those before it, never one behind it: site, nav, live,
// account, channels, people, agents, connect, audit, insights, system, webhooks, request, grants, policy, inbox, conversation.
//
// views/pages draws the pages, in the same areas. This folder itself has the tests that walk all routes and all pages:
// who may do what, which acts a page offers, what a route stores, and that reading changes nothing (I15). They find a
// new route automatically. webtest is the world that the tests of all areas share; browser has those that need a
// browser.
package web
