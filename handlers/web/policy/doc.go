// Package policy is the pages of the policy. An admin changes a draft (editing), by forms or as JSON,
// tries it on a call, replays it over real calls, reviews it and saves it as a version. Reviewers
// read the active version.
//
// A form carries the revision that it was made of, so that two windows lose nothing of each other
// (otherWindow, keep). A replay belongs to one admin, goes on without its reader, and ends when
// the server does (replays). Gates that are open, and until when, are read by switch.
package policy
