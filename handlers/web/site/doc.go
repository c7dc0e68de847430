// Package site is what all pages share.
//
//   - Route, Right: an address, and who may go there. Add puts them behind their guards.
//   - Router: what every page is behind. Headers that let a page load only what this server
//     serves; no form from another site; who is signed in, by the cookie and nothing else (I5);
//     a form of bounded size that arrives in bounded time.
//   - Visitor, ActorOf: who sends a request. SignInPage asks strangers, and Unsent carries what
//     they had typed.
//   - Frame: the shell around a screen, with its warnings in red (I11), which PolicyWatch keeps
//     at hand. fail answers errors: a page for people, a problem for programs.
//   - SetFlash: one message over a redirect, by its name, so that nobody puts words on a page.
//   - Export: a file of rows, streamed. What is cut short is never taken for a whole file.
//   - readers of addresses: ids, days in a zone, people, local pages.
//
// What may be touched with care only: the order of guards in Router, and what Add puts before
// which right. Nothing here decides anything.
package site
