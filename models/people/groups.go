package people

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// Groups in use, each with how many people are in it.
const (
	groupsInUse = `SELECT g.*, (SELECT count(*) FROM group_members m` + db.ByGroupMembersIn +
		` WHERE m.group_id = g.id AND m.left_at IS NULL) AS members
 FROM groups g` + db.ByGroupsInUse + ` WHERE g.removed_at IS NULL`
	allGroups  = groupsInUse + ` ORDER BY g.name`
	groupNamed = groupsInUse + ` AND g.name = ?`

	membersOfGroup = `SELECT u.* FROM group_members m` + db.ByGroupMembersIn + ` JOIN users u ON u.id = m.user_id
 WHERE m.group_id = ? AND m.left_at IS NULL ORDER BY u.email`
	// groupsOfUser are those that a person is in.
	groupsOfUser = `SELECT g.name FROM group_members m` + db.ByGroupMembersUser + ` JOIN groups g ON g.id = m.group_id
 WHERE m.user_id = ? AND m.left_at IS NULL ORDER BY g.name`
	groupsOfUsers = `SELECT m.user_id, g.name FROM group_members m` + db.ByGroupMembersUser +
		` JOIN groups g ON g.id = m.group_id
 WHERE m.user_id IN ? AND m.left_at IS NULL ORDER BY g.name`
)

// enabledMembers are those who may decide as members of some groups.
var enabledMembers = `SELECT DISTINCT m.user_id FROM groups g` + db.ByGroupsInUse + ` CROSS JOIN group_members m` +
	db.ByGroupMembersIn + ` ON m.group_id = g.id
 CROSS JOIN users u ON u.id = m.user_id
 WHERE g.removed_at IS NULL AND g.name IN ? AND m.left_at IS NULL AND ` + MayDecide(`u`) + ` ORDER BY m.user_id`

// groupData is what the ledger keeps of a change to a group.
type groupData struct {
	Group models.GroupID `json:"group"`
	Name  string         `json:"name"`
	Note  *string        `json:"note_digest,omitempty"` // where it was set
}

// memberData is what it keeps of who joins or leaves.
type memberData struct {
	Group  models.GroupID       `json:"group"`
	Name   string               `json:"name"`
	Member models.GroupMemberID `json:"member"`
	UserID models.UserID        `json:"userId"`
	Email  string               `json:"email"`
}

// Groups are those in use, by name. For people who are signed in, and the operator.
func (p *People) Groups(ctx context.Context, actor models.Actor) ([]models.Group, error) {
	if !actor.IsPerson() {
		if err := actor.NeedOversight(); err != nil {
			return nil, err
		}
	}
	var all []models.Group
	if err := p.db.Gorm(ctx).Raw(allGroups).Scan(&all).Error; err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	return all, nil
}

// NamesOfGroups are those of the groups in use, in their order.
func NamesOfGroups(pool *gorm.DB) ([]string, error) {
	names := []string{}
	if err := pool.Model(&models.Group{}).Where("removed_at IS NULL").Order("name").Pluck("name",
		&names).Error; err != nil {
		return nil, fmt.Errorf("read groups: %w", err)
	}
	return names, nil
}

// Group is one that is in use and who is in it, by e-mail. For admins and the operator,
// else CodeForbidden; CodeNotFound if there is none of that name.
func (p *People) Group(ctx context.Context, actor models.Actor, name string) (*models.Group, []models.User, error) {
	if err := actor.NeedOversight(); err != nil {
		return nil, nil, err
	}
	pool := p.db.Gorm(ctx)
	var found []models.Group
	if err := pool.Raw(groupNamed, name).Scan(&found).Error; err != nil {
		return nil, nil, fmt.Errorf("read group: %w", err)
	}
	if len(found) == 0 {
		return nil, nil, models.NotFound("group")
	}
	members, err := membersOf(pool, &found[0])
	for i := range members {
		members[i].PasswordHash = ""
	}
	return &found[0], members, err
}

// membersOf are the people in a group, by e-mail.
func membersOf(pool *gorm.DB, g *models.Group) (members []models.User, err error) {
	if err := pool.Raw(membersOfGroup, g.ID).Scan(&members).Error; err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	return members, nil
}

// AddGroup makes a group without members. For admins and the operator, else
// CodeForbidden; CodeInvalid names every field that is wrong; CodeConflict where the name
// is taken or there are models.MaxGroups.
func (p *People) AddGroup(ctx context.Context, actor models.Actor, name, note string) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	name, note = strings.TrimSpace(name), strings.TrimSpace(note)
	wrong := models.FieldsOf(models.CheckGroupName("name", name))
	for field, text := range models.FieldsOf(models.CheckGroupNote("note", note)) {
		if wrong == nil {
			wrong = map[string]string{}
		}
		wrong[field] = text
	}
	if len(wrong) > 0 {
		return &models.Error{Code: models.CodeInvalid, Text: "The group is not valid.", Fields: wrong}
	}
	return p.write(ctx, func(t *tx) error {
		var all []models.Group
		if err := t.Gorm().Raw(allGroups).Scan(&all).Error; err != nil {
			return fmt.Errorf("list groups: %w", err)
		}
		for _, g := range all {
			if g.Name == name {
				return models.Errorf(models.CodeConflict, "There is already a group named %s.", name)
			}
		}
		if len(all) >= models.MaxGroups {
			return models.Errorf(models.CodeConflict, "There are %d groups, which is the limit: remove one first.", len(all))
		}
		g := &models.Group{ID: models.NewID[models.GroupID](), Name: name, Note: note, CreatedAt: t.Now}
		if err := t.Gorm().Create(g).Error; err != nil {
			return fmt.Errorf("add group: %w", err)
		}
		t.adds("groups", g.ID)
		return t.record(actor, "group.added", ledger.Subject{}, groupData{g.ID, name, new(models.DigestOfText(note))})
	})
}

// DescribeGroup changes what a group is for. The same note again is harmless. For admins
// and the operator, else CodeForbidden; CodeInvalid names "note"; CodeNotFound.
func (p *People) DescribeGroup(ctx context.Context, actor models.Actor, name, note string) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	note = strings.TrimSpace(note)
	if err := models.CheckGroupNote("note", note); err != nil {
		return err
	}
	return p.write(ctx, func(t *tx) error {
		g, err := t.group(name)
		if err != nil || g.Note == note {
			return err
		}
		if err := t.changes("groups", g.ID); err != nil {
			return err
		}
		if err := t.Gorm().Model(&models.Group{}).Where("id = ?", g.ID).Update("note", note).Error; err != nil {
			return fmt.Errorf("describe group: %w", err)
		}
		return t.record(actor, "group.described", ledger.Subject{}, groupData{g.ID, name, new(models.DigestOfText(note))})
	})
}

// RemoveGroup takes everybody out of a group and removes it. Its name may be used again: its pending requests then wait
// for the members of the new one. For admins and the operator, else CodeForbidden; CodeNotFound; CodeConflict while the
// policy names it.
func (p *People) RemoveGroup(ctx context.Context, actor models.Actor, name string) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	return p.write(ctx, func(t *tx) error {
		g, err := t.group(name)
		if err != nil {
			return err
		}
		rules, err := t.p.opts.NamingGroup(t.Tx, name)
		if err != nil {
			return err
		}
		if len(rules) > 0 {
			return models.Errorf(models.CodeConflict, "The policy names this group, in %s: change the policy first.",
				someOf(rules))
		}
		members, err := membersOf(t.Gorm(), g)
		if err != nil {
			return err
		}
		if err := t.leave(actor, g, members...); err != nil {
			return err
		}
		if err := t.removeChannelsOf(actor, g.ID); err != nil {
			return err
		}
		if err := t.changes("groups", g.ID); err != nil {
			return err
		}
		removal := t.Gorm().Model(&models.Group{}).Where("id = ? AND removed_at IS NULL", g.ID).Update("removed_at", t.Now)
		if removal.Error != nil {
			return fmt.Errorf("remove group: %w", removal.Error)
		}
		if !db.ExactlyOne(removal.RowsAffected) {
			return models.NotFound("group")
		}
		if err := t.record(actor, "group.removed", ledger.Subject{}, groupData{Group: g.ID, Name: name}); err != nil {
			return err
		}
		return t.endStranded()
	})
}

// someOf lists the first of several in a sentence.
func someOf(names []string) string {
	const most = 3
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// JoinGroup puts a person into a group: its pending requests are in their inbox at once. Joining twice is harmless. For
// admins and the operator, else CodeForbidden; CodeNotFound names the missing group; CodeInvalid names "email" unless a
// person has it who may decide; CodeConflict for a group of models.MaxMembers.
func (p *People) JoinGroup(ctx context.Context, actor models.Actor, name, email string) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	return p.write(ctx, func(t *tx) error {
		g, err := t.group(name)
		if err != nil {
			return err
		}
		var user models.User
		err = t.Gorm().Where("email = ? AND "+MayDecide("users"), FoldEmail(email)).Take(&user).Error
		if err != nil {
			return db.NotFoundAs(err, models.Invalid("email", "must be the e-mail of a person who may sign in and decide"))
		}
		if m, err := t.memberOf(g, user.ID); err != nil || m != nil {
			return err
		}
		if g.Members >= models.MaxMembers {
			return models.Errorf(models.CodeConflict, "The group has %d members, which is the limit.", g.Members)
		}
		m := &models.GroupMember{ID: models.NewID[models.GroupMemberID](), GroupID: g.ID, UserID: user.ID, JoinedAt: t.Now}
		if err := t.Gorm().Create(m).Error; err != nil {
			return fmt.Errorf("join group: %w", err)
		}
		t.adds("group_members", m.ID)
		if err := t.record(actor, "group.joined", ledger.Subject{Owner: user.ID},
			memberData{g.ID, name, m.ID, user.ID, user.Email}); err != nil {
			return err
		}
		t.accessChanged()
		return t.p.opts.Joined(t.Tx, actor, user.ID, name)
	})
}

// LeaveGroup takes a person out of a group: its pending requests leave their inbox at once, unless they are asked for
// another reason. Requests without a possible approver then end rejected, cause no_reviewer. For admins and the
// operator, else CodeForbidden; CodeNotFound for no such group or member.
func (p *People) LeaveGroup(ctx context.Context, actor models.Actor, name string, id models.UserID) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	return p.write(ctx, func(t *tx) error {
		g, err := t.group(name)
		if err != nil {
			return err
		}
		user, err := t.user(id)
		if err != nil {
			return err
		}
		if err := t.leave(actor, g, *user); err != nil {
			return err
		}
		return t.endStranded()
	})
}

func (t *tx) leave(actor models.Actor, g *models.Group, users ...models.User) error {
	if len(users) == 0 {
		return nil
	}
	ids := make([]models.UserID, 0, len(users))
	for i := range users {
		user := &users[i]
		m, err := t.memberOf(g, user.ID)
		if err != nil {
			return err
		}
		if m == nil {
			return models.NotFound("member")
		}
		if err := t.changes("group_members", m.ID); err != nil {
			return err
		}
		if err := t.Gorm().Model(&models.GroupMember{}).Where("id = ?", m.ID).Update("left_at", t.Now).Error; err != nil {
			return fmt.Errorf("leave group: %w", err)
		}
		if err := t.record(actor, "group.left", ledger.Subject{Owner: user.ID},
			memberData{g.ID, g.Name, m.ID, user.ID, user.Email}); err != nil {
			return err
		}
		ids = append(ids, user.ID)
	}
	t.accessChanged()
	return t.p.opts.Left(t.Tx, actor, ids, g.Name)
}

// rejoin puts the pending requests of a person's groups into their inbox.
func (t *tx) rejoin(actor models.Actor, user models.UserID) error {
	names, err := groupsOf(t.Gorm(), user)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := t.p.opts.Joined(t.Tx, actor, user, name); err != nil {
			return err
		}
	}
	return nil
}

// group is one in use; CodeNotFound.
func (t *tx) group(name string) (*models.Group, error) {
	var found []models.Group
	if err := t.Gorm().Raw(groupNamed, name).Scan(&found).Error; err != nil {
		return nil, fmt.Errorf("read group: %w", err)
	}
	if len(found) == 0 {
		return nil, models.NotFound("group")
	}
	return &found[0], nil
}

// memberOf is a person's place in a group; nil: they are not in it.
func (t *tx) memberOf(g *models.Group, user models.UserID) (*models.GroupMember, error) {
	var found []models.GroupMember
	if err := t.Gorm().Where("group_id = ? AND user_id = ? AND left_at IS NULL", g.ID,
		user).Find(&found).Error; err != nil {
		return nil, fmt.Errorf("read member: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// GroupsOf are the names of the groups that a person is in, as the transaction sees them.
func (p *People) GroupsOf(t *db.Tx, user models.UserID) ([]string, error) {
	return groupsOf(t.Gorm(), user)
}

// GroupsIn is GroupsOf as a read sees it.
func GroupsIn(q *gorm.DB, user models.UserID) ([]string, error) { return groupsOf(q, user) }

// GroupsOfEach adds the groups that each of some people is in.
func GroupsOfEach(q *gorm.DB, users []models.UserID, to map[models.UserID][]string) error {
	var rows []struct {
		UserID models.UserID
		Name   string
	}
	if err := q.Raw(groupsOfUsers, users).Scan(&rows).Error; err != nil {
		return fmt.Errorf("read groups of people: %w", err)
	}
	for _, user := range users {
		to[user] = nil
	}
	for _, r := range rows {
		to[r.UserID] = append(to[r.UserID], r.Name)
	}
	return nil
}

func groupsOf(pool *gorm.DB, user models.UserID) (names []string, err error) {
	if err := pool.Raw(groupsOfUser, user).Scan(&names).Error; err != nil {
		return nil, fmt.Errorf("read groups of a person: %w", err)
	}
	return names, nil
}

// EnabledMembers are the people in any of some groups who may sign in, each once.
func (p *People) EnabledMembers(t *db.Tx, groups []string) (ids []models.UserID, err error) {
	if len(groups) == 0 {
		return nil, nil
	}
	if err := t.Gorm().Raw(enabledMembers, groups).Scan(&ids).Error; err != nil {
		return nil, fmt.Errorf("read members of groups: %w", err)
	}
	return ids, nil
}
