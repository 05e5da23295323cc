package iam

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"sluice"
	"sluice/command"
)

type userPutParams struct {
	Username string   `json:"username" required:"true" audit:"yes" doc:"Name of the user: 1 to 128 letters, digits, dots, _, @, + and -, beginning with a letter or digit."`
	Password *string  `json:"password" doc:"New password: 8 characters or more, at most 1024 bytes, and not one of the most common ones. Without one, a new user can't log in. Your own is set with iam.password.set."`
	Roles    []string `json:"roles" audit:"yes" doc:"Roles the user has from now on."`
	Disabled *bool    `json:"disabled" doc:"Whether the user is kept from logging in and from using tokens."`
}

// A userView is an account as commands show it: without the password.
type userView struct {
	Username string     `json:"username" doc:"Their name."`
	Roles    []string   `json:"roles" doc:"Roles that say what they may do."`
	Disabled bool       `json:"disabled" doc:"They can not log in."`
	Created  *time.Time `json:"created,omitempty" doc:"When they were created."`
	Updated  *time.Time `json:"updated,omitempty" doc:"When they were last changed."`
	LastUsed *time.Time `json:"lastUsed,omitempty" doc:"When they last signed in or made a call, to the minute."`
	Warnings []string   `json:"warnings,omitempty" doc:"What should be looked at, though it was stored."`
}

func showUser(a *sluice.Account) userView {
	shown := userView{Username: a.Username, Roles: a.Roles, Disabled: a.Disabled, Created: &a.Created, Updated: &a.Updated}
	if !a.Used.IsZero() {
		shown.LastUsed = &a.Used
	}
	return shown
}

func userPutCommand(d *Directory) command.Command {
	return command.New("iam.user.put", "Create a user, or edit the one of that name: what is not given keeps its value.",
		ofOurs(d, func(ctx context.Context, p userPutParams) (userView, error) {
			if err := d.checkUser(ctx, p); err != nil {
				return userView{}, err
			}
			hash, err := p.hash(ctx)
			if err != nil {
				return userView{}, err
			}
			account, err := d.Accounts.Change(ctx, p.Username, func(before *sluice.Account, all map[string]*sluice.Account) (*sluice.Account, error) {
				after := &sluice.Account{ID: rand.Text(), Username: p.Username, Roles: []string{}, Created: now()}
				if before == nil {
					if err := standsOut(p.Username, all); err != nil {
						return nil, err
					}
				} else {
					if err := d.mayGrant(ctx, before.Roles); err != nil {
						return nil, err
					}
					*after = *before
				}
				p.apply(after, hash)
				return after, keepsAdmin(before, after, all)
			})
			if err != nil {
				return userView{}, err
			}
			if p.Password != nil || account.Disabled {
				if err := d.EndSessions(ctx, p.Username, ""); err != nil {
					return userView{}, err
				}
			}
			shown := showUser(account)
			if account.Password == "" {
				shown.Warnings = []string{"The user has no password and can't log in; iam.password.set gives one, or sluice user password."}
			}
			return shown, nil
		}), command.Global)
}

// hash returns the hash of the new password, if one is given. It refuses to set the
// caller's own, which needs the current one: otherwise whoever finds an open session
// could take over the account.
func (p userPutParams) hash(ctx context.Context) (string, error) {
	if p.Password == nil {
		return "", nil
	}
	if p.Username == sluice.UserFrom(ctx).Name {
		return "", sluice.InvalidParameter("password", "Your own password is set with iam.password.set, which wants the current one.")
	}
	return newPassword(*p.Password, p.Username)
}

// checkUser refuses invalid users, and those that the caller may not make.
func (d *Directory) checkUser(ctx context.Context, p userPutParams) error {
	if err := cmp.Or(checkUsername(p.Username), d.checkRoles(ctx, p.Roles)); err != nil {
		return err
	}
	return d.mayGrant(ctx, p.Roles)
}

// standsOut refuses the name of a new user that people could mistake for another's.
func standsOut(username string, all map[string]*sluice.Account) error {
	for _, other := range all {
		if strings.EqualFold(other.Username, username) {
			return sluice.Errorf(sluice.CodeUsernameTaken, "There is a user %s already, whose name differs only in upper and lower case; choose another name.", other.Username)
		}
	}
	return nil
}

func (p userPutParams) apply(a *sluice.Account, hash string) {
	a.Updated = now()
	if p.Password != nil {
		a.Password = hash
	}
	if p.Roles != nil {
		a.Roles = distinct(p.Roles)
	}
	if p.Disabled != nil {
		a.Disabled = *p.Disabled
	}
}

func checkUsername(username string) error {
	if strings.EqualFold(username, sluice.AnonymousName) {
		return builtin("The user " + sluice.AnonymousName)
	}
	if !validUsername.MatchString(username) {
		return sluice.InvalidParameter("username", "The parameter username must be 1 to 128 letters, digits, dots, _, @, + and -, beginning with a letter or digit.")
	}
	return nil
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

type userGetParams struct {
	Username string `json:"username" doc:"Name of the one user to show. Without it all are listed."`
	Search   string `json:"search" doc:"List only users whose name contains this."`
	Limit    int    `json:"limit" min:"1" doc:"List at most this many; the Link header leads to the next page."`
	After    string `json:"after" doc:"List only users whose name comes after this one."`
}

func userGetCommand(d *Directory) command.Command {
	return command.New("iam.user.get", "List the users, or show the one of that name.",
		ofOurs(d, func(ctx context.Context, p userGetParams) (any, error) {
			if p.Username == sluice.AnonymousName {
				return anonymousView(), nil
			}
			if p.Username != "" {
				account, err := d.Accounts.Get(ctx, p.Username)
				if err != nil {
					return nil, err
				}
				if account == nil {
					return nil, notFound(sluice.CodeUserNotFound, "user of that name")
				}
				return showUser(account), nil
			}
			users := []userView{anonymousView()}
			for _, account := range d.Accounts.All() {
				users = append(users, showUser(account))
			}
			return command.PageOf(users, func(u userView) string { return u.Username }, p.Search, p.After, p.Limit), nil
		}), command.ReadOnly, command.Global, command.Answers([]userView{}, userView{}))
}

func anonymousView() userView {
	return userView{Username: sluice.AnonymousName, Roles: []string{sluice.AnonymousRole}}
}

type userDeleteParams struct {
	Username string `json:"username" required:"true" audit:"yes" doc:"Name of the user to delete."`
}

type userDeleted struct {
	Username string `json:"username"`
	Deleted  bool   `json:"deleted"`
}

func userDeleteCommand(d *Directory) command.Command {
	return command.New("iam.user.delete", "Delete a user: passwords and tokens of that user are refused from then on, and so are pipelines of that user that switch users or use secrets, until another user stores them.",
		ofOurs(d, func(ctx context.Context, p userDeleteParams) (userDeleted, error) {
			if err := checkUsername(p.Username); err != nil {
				return userDeleted{}, err
			}
			_, err := d.Accounts.Change(ctx, p.Username, func(before *sluice.Account, all map[string]*sluice.Account) (*sluice.Account, error) {
				if before == nil {
					return nil, notFound(sluice.CodeUserNotFound, "user of that name")
				}
				if err := d.mayGrant(ctx, before.Roles); err != nil {
					return nil, err
				}
				return nil, keepsAdmin(before, nil, all)
			})
			if err != nil {
				return userDeleted{}, err
			}
			// Otherwise a new user of the same name would inherit them.
			return userDeleted{p.Username, true}, d.EndSessions(ctx, p.Username, "")
		}), command.Global)
}

// Bootstrap creates the admin if there is none, with the given password, or with one
// that it generates and returns; that is shown once and stored nowhere. Invalid if the
// given password is too weak, see CheckFirst.
func Bootstrap(ctx context.Context, accounts sluice.Records[sluice.Account], password string) (created bool, generated string, err error) {
	admin, err := accounts.Get(ctx, sluice.AdminName)
	if err != nil || admin != nil {
		return false, "", err
	}
	if password == "" {
		generated = madeUp()
		password = generated
	}
	if err := CheckFirst(ctx, accounts, password); err != nil {
		return false, "", err
	}
	mine := newAdmin(hashPassword(norm.NFC.String(password)))
	kept, err := accounts.Change(ctx, sluice.AdminName, func(before *sluice.Account, _ map[string]*sluice.Account) (*sluice.Account, error) {
		if before != nil {
			return before, nil // another node was faster
		}
		return mine, nil
	})
	if err != nil || kept != mine {
		return false, "", err
	}
	return true, generated, nil
}

func madeUp() string { return strings.ToLower(rand.Text()) }

func newAdmin(hash string) *sluice.Account {
	made := now()
	return &sluice.Account{
		ID: rand.Text(), Username: sluice.AdminName, Password: hash, Roles: []string{sluice.AdminName},
		Created: made, Updated: made,
	}
}

// ResetAdmin lets the admin in again, with the given password, or with one that it
// generates and returns. The account is enabled and gets the role of admins back.
func ResetAdmin(ctx context.Context, accounts sluice.Records[sluice.Account], password string) (generated string, err error) {
	if password == "" {
		generated = madeUp()
		password = generated
	}
	hash, err := newPassword(password, sluice.AdminName)
	if err != nil {
		return "", err
	}
	_, err = accounts.Change(ctx, sluice.AdminName, func(before *sluice.Account, _ map[string]*sluice.Account) (*sluice.Account, error) {
		if before == nil {
			return newAdmin(hash), nil
		}
		after := *before
		after.Password, after.Disabled, after.Updated = hash, false, now()
		if !slices.Contains(after.Roles, sluice.AdminName) {
			after.Roles = append(slices.Clone(after.Roles), sluice.AdminName)
		}
		return &after, nil
	})
	return generated, err
}

// CheckFirst refuses a password that is too weak for the admin, unless the admin exists
// already.
func CheckFirst(ctx context.Context, accounts sluice.Records[sluice.Account], password string) error {
	weak := checkPassword(password, sluice.AdminName)
	if password == "" || weak == nil {
		return nil
	}
	admin, err := accounts.Get(ctx, sluice.AdminName)
	if err != nil || admin != nil {
		return err
	}
	e := sluice.AsError(weak)
	return e.Saying("SLUICE_ADMIN_PASSWORD can't be the password of the user " + sluice.AdminName + ": " + e.Message)
}
