// Package people holds the pages of persons and groups: who is invited, may sign in or is an
// admin, who is in which group and how it is told, and who is away and decides instead.
//
// No act is offered that the store refuses, such as taking the last admin away.
package people
