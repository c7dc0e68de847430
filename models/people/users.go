package people

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// NewUser is what a person is added with. The e-mail is what one signs in with:
// trimmed and folded to lower case.
type NewUser struct {
	Email    string
	Name     string
	Role     models.Role
	Password string // 12 to 128 characters
}

// userData is what the ledger keeps of a change to a user.
type userData struct {
	UserID models.UserID `json:"userId"`
	Email  string        `json:"email"`
	Name   string        `json:"name,omitzero"`
	Role   models.Role   `json:"role,omitzero"`
}

// FoldEmail is the one form in which e-mails are stored and compared.
func FoldEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

func emailFault(email string) string {
	local, domain, _ := strings.Cut(email, "@")
	switch {
	case len(email) > models.MaxName:
		return fmt.Sprintf("is %d bytes long; at most %d are allowed", len(email), models.MaxName)
	case local == "" || domain == "" || strings.Contains(domain, "@"):
		return "must be an e-mail address such as ada@example.com"
	case strings.HasPrefix(email, "-") || strings.HasPrefix(domain, "-") || strings.ContainsAny(email, `<>()[]\,;:"`):
		// Programs that send mail read these as options, names and lists.
		return "must be the address alone, such as ada@example.com"
	case strings.ContainsFunc(email,
		func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == unicode.ReplacementChar }):
		return "must not contain spaces or invisible characters"
	}
	return ""
}

// checked returns the input as it will be stored, or one CodeInvalid that names
// every field that is wrong.
func (n NewUser) checked() (NewUser, error) {
	n.Email, n.Name = FoldEmail(n.Email), strings.TrimSpace(n.Name)
	faults := make(map[string]string)
	if fault := emailFault(n.Email); fault != "" {
		faults["email"] = fault
	}
	maps.Copy(faults, models.FieldsOf(models.CheckKey("name", n.Name)))
	if fault := n.Role.Fault(); fault != "" {
		faults["role"] = fault
	}
	if fault := passwordFault(n.Password, n.Email); fault != "" {
		faults["password"] = fault
	}
	if len(faults) > 0 {
		return n, &models.Error{Code: models.CodeInvalid, Text: "The user is not valid.", Fields: faults}
	}
	return n, nil
}

// AddUser adds a person. For admins and the operator, else CodeForbidden;
// CodeInvalid names all fields that are wrong; CodeConflict if the e-mail is
// taken, also by a disabled user.
func (p *People) AddUser(ctx context.Context, actor models.Actor, in NewUser) (*models.User, error) {
	if err := actor.NeedAdmin(); err != nil {
		return nil, err
	}
	in, err := in.checked()
	if err != nil {
		return nil, err
	}
	hash, err := p.passwords.hash(ctx, in.Password)
	if err != nil {
		return nil, err
	}
	var user *models.User
	err = p.write(ctx, func(t *tx) error {
		user = t.newUser(in, hash)
		return t.addUser(actor, user)
	})
	if err != nil {
		return nil, err
	}
	return withoutHash(user), nil
}

func (t *tx) newUser(in NewUser, hash string) *models.User {
	return &models.User{
		ID: models.NewID[models.UserID](), Email: in.Email, Name: in.Name, Role: in.Role, PasswordHash: hash,
		CreatedAt: t.Now,
	}
}

func (t *tx) addUser(actor models.Actor, user *models.User) error {
	if err := t.emailFree(user.Email); err != nil {
		return err
	}
	if err := t.Gorm().Create(user).Error; err != nil {
		return fmt.Errorf("add user: %w", err)
	}
	t.adds("users", user.ID)
	return t.record(actor, "user.added", ledger.Subject{Owner: user.ID},
		userData{UserID: user.ID, Email: user.Email, Name: user.Name, Role: user.Role})
}

// Users lists everybody by e-mail, disabled ones too. For admins and the
// operator, else CodeForbidden.
func (p *People) Users(ctx context.Context, actor models.Actor) ([]models.User, error) {
	if err := actor.NeedOversight(); err != nil {
		return nil, err
	}
	var users []models.User
	if err := p.db.Gorm(ctx).Omit("password_hash").Order("email").Find(&users).Error; err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	return users, nil
}

// UserByEmail finds a user, also a disabled one. For admins and the operator,
// else CodeForbidden; CodeNotFound if there is none.
func (p *People) UserByEmail(ctx context.Context, actor models.Actor, email string) (*models.User, error) {
	if err := actor.NeedOversight(); err != nil {
		return nil, err
	}
	user, err := p.userWithEmail(ctx, email)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, models.NotFound("user")
	}
	return withoutHash(user), nil
}

// PersonByEmail finds somebody who may sign in. For people, else CodeForbidden; CodeNotFound if there is no such
// person.
func (p *People) PersonByEmail(ctx context.Context, actor models.Actor, email string) (models.PersonRef, error) {
	if !actor.IsPerson() {
		return models.PersonRef{}, models.Errorf(models.CodeForbidden, "Only people look each other up.")
	}
	user, err := p.userWithEmail(ctx, email)
	if err != nil {
		return models.PersonRef{}, err
	}
	if user == nil || !user.Enabled() {
		return models.PersonRef{}, models.NotFound("user")
	}
	return models.PersonRef{ID: user.ID, Name: user.Name, Email: user.Email}, nil
}

// userWithEmail returns nil if there is none.
func (p *People) userWithEmail(ctx context.Context, email string) (*models.User, error) {
	var users []models.User
	if err := p.db.Gorm(ctx).Where("email = ?", FoldEmail(email)).Limit(1).Find(&users).Error; err != nil {
		return nil, fmt.Errorf("look for the e-mail: %w", err)
	}
	if len(users) == 0 {
		return nil, nil
	}
	return &users[0], nil
}

// UserByID is one person. For admins and the operator, else CodeForbidden;
// CodeNotFound if there is none.
func (p *People) UserByID(ctx context.Context, actor models.Actor, id models.UserID) (*models.User, error) {
	if err := actor.NeedOversight(); err != nil {
		return nil, err
	}
	var user models.User
	err := p.db.Gorm(ctx).Where("id = ?", id).Take(&user).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, models.NotFound("person")
	}
	if err != nil {
		return nil, fmt.Errorf("read person: %w", err)
	}
	return withoutHash(&user), nil
}

// DisableUser ends a person's access at once: sessions are closed, reviewer and
// admin tokens refused. What the person's agents ask goes on, for others may
// decide it; agentTokens counts their tokens that still work. Disabling twice is
// harmless. Pending requests that only this person could approve end rejected, cause
// no_reviewer. For admins and the operator, else CodeForbidden; CodeNotFound if
// there is no such user; CodeConflict for the last enabled admin.
func (p *People) DisableUser(ctx context.Context, actor models.Actor, id models.UserID) (agentTokens int, err error) {
	if err := actor.NeedAdmin(); err != nil {
		return 0, err
	}
	err = p.write(ctx, func(t *tx) error {
		user, err := t.user(id)
		if err != nil {
			return err
		}
		if agentTokens, err = t.liveAgentTokens(id); err != nil || !user.Enabled() {
			return err
		}
		return t.disable(actor, user)
	})
	return agentTokens, err
}

func (t *tx) disable(actor models.Actor, user *models.User) error {
	if err := t.keepAnAdmin(user, "be disabled"); err != nil {
		return err
	}
	if err := t.changes("users", user.ID); err != nil {
		return err
	}
	if err := t.Gorm().Model(&models.User{}).Where("id = ?", user.ID).Update("disabled_at", t.Now).Error; err != nil {
		return fmt.Errorf("disable user: %w", err)
	}
	if err := t.record(actor, "user.disabled", ledger.Subject{Owner: user.ID},
		userData{UserID: user.ID, Email: user.Email}); err != nil {
		return err
	}
	t.accessChanged()
	if err := t.endStranded(); err != nil {
		return err
	}
	return t.closeSessions(actor, user.ID, "")
}

// user reads a user inside the transaction; CodeNotFound if there is none.
func (t *tx) user(id models.UserID) (*models.User, error) {
	var user models.User
	if err := t.Gorm().Where("id = ?", id).Take(&user).Error; err != nil {
		return nil, db.NotFoundAs(err, models.NotFound("user"))
	}
	return &user, nil
}

// withoutHash is what leaves this package: no password hash goes along.
func withoutHash(user *models.User) *models.User {
	out := *user
	out.PasswordHash = ""
	return &out
}

// live narrows a query to tokens that may be used now.
func (t *tx) live(pool *gorm.DB) *gorm.DB {
	return pool.Where("revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)", t.Now)
}

// MayDecide is the condition, on a row of users, that the person may sign in and decide: they are enabled and no auditor.
func MayDecide(user string) string {
	return user + `.disabled_at IS NULL AND ` + user + `.role <> 'auditor'`
}

// WhoMayApprove reads a policy.Person of everybody who may decide.
var WhoMayApprove = `SELECT u.email, u.role = 'admin' AS admin,
 EXISTS (SELECT 1 FROM agents a WHERE a.owner_id = u.id AND a.disabled_at IS NULL) AS owns,
 coalesce((SELECT ` + db.Joined("g.name") + ` FROM group_members m` + db.ByGroupMembersUser + ` JOIN groups g ON g.id = m.group_id
  WHERE m.user_id = u.id AND m.left_at IS NULL), '') AS groups
 FROM users u WHERE ` + MayDecide(`u`) + ` ORDER BY u.email`
