// Package people is who there is: people and their roles, invitations, groups, and who is away and
// acts for whom.
//
// Away is one set of handlers for two places: a person's own (ownAway) and all people's, for
// admins (peopleAway). A substitute acts only once an admin has accepted it, and no admin accepts
// themselves where another could. The store judges both; pages only say it.
package people
