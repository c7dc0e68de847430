// Package site is what all pages share.
//
//   - Route, Right: an address, and who may use it. Add puts routes behind their guards.
//   - Router: the guards of every page. Headers that let a page load only what this server
//     serves; no form from another site; who is signed in, by the cookie and nothing else (I5);
//     a form of bounded size that arrives in bounded time.
//   - Visitor, ActorOf: who sends a request. SignInPage asks strangers to sign in, and Unsent
//     keeps what they typed.
//   - Frame: the shell around a screen, with its warnings in red (I11), which PolicyWatch keeps
//     at hand. fail answers errors: a page for people, a problem for programs.
//   - SetFlash: one message over a redirect, by its name, so that a link can't put words on a page.
//   - Export: a file of rows, streamed. A reader can tell a cut file from a whole one.
//   - readers of addresses: ids, days in a zone, people, local pages.
//
// Change with care: the order of guards in Router, and what Add puts before which right. Nothing here decides
// anything.
package site
