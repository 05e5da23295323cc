package iam

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"sluice"
	"sluice/command"
	"sluice/limit"
)

// The cost of a password hash, as OWASP recommends for argon2id: about 50 ms.
const (
	hashMemory = 19 * 1024 // KiB
	hashPasses = 2
	hashLength = 32
)

// newPassword returns the stored form of a password that someone has chosen, or
// says why it can't be one.
func newPassword(password, username string) (hash string, err error) {
	if err := checkPassword(password, username); err != nil {
		return "", err
	}
	return hashPassword(norm.NFC.String(password)), nil
}

// checkPassword refuses a password that is too weak for a user.
func checkPassword(password, username string) error {
	// The same letters may come composed or decomposed.
	normal := norm.NFC.String(password)
	switch {
	case utf8.RuneCountInString(normal) < limit.MinPassword:
		return sluice.InvalidParameter("password", "The password must have %d characters or more.", limit.MinPassword)
	case len(normal) > limit.MaxPassword || strings.ContainsFunc(normal, unicode.IsControl):
		return sluice.InvalidParameter("password", "The password must have at most %d bytes and no control characters.", limit.MaxPassword)
	case isCommon(normal, username):
		return sluice.InvalidParameter("password", "This password is among the first that anyone would guess; a few words that don't belong together are better.")
	}
	return nil
}

// hashPassword returns the stored form of a password.
func hashPassword(password string) string {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, hashMemory, hashPasses,
		base64.RawStdEncoding.EncodeToString(salt),
		base64.RawStdEncoding.EncodeToString(argon2.IDKey([]byte(password), salt, hashPasses, hashMemory, 1, hashLength)))
}

// verify reports whether a password belongs to a stored form.
func verify(stored, password string) bool {
	var version, passes int
	var memory uint32
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false
	}
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=1", &version, &memory, &passes); err != nil || version != argon2.Version {
		return false
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	want, wantErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || wantErr != nil {
		return false
	}
	got := argon2.IDKey([]byte(password), salt, uint32(passes), memory, 1, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1
}

type passwordSetParams struct {
	Username string  `json:"username" audit:"yes" doc:"Whose password to set; default: your own."`
	Password string  `json:"password" required:"true" doc:"The new password: 8 characters or more, at most 1024 bytes, and not one of the most common ones."`
	Current  *string `json:"current" doc:"Your current password, needed to change your own."`
}

func passwordSetCommand(d *Directory) command.Command {
	return command.New("iam.password.set", "Set your own password, or, with the permission iam.user.put, that of another user.",
		ofOurs(d, func(ctx context.Context, p passwordSetParams) (userView, error) {
			caller := sluice.UserFrom(ctx)
			p.Username = cmp.Or(p.Username, caller.Name)
			if err := d.maySetPassword(ctx, caller, p); err != nil {
				return userView{}, err
			}
			hash, err := newPassword(p.Password, p.Username)
			if err != nil {
				return userView{}, err
			}
			account, err := d.Accounts.Change(ctx, p.Username, func(before *sluice.Account, _ map[string]*sluice.Account) (*sluice.Account, error) {
				if before == nil {
					return nil, notFound(sluice.CodeUserNotFound, "user of that name")
				}
				if err := d.mayGrant(ctx, before.Roles); err != nil {
					return nil, err
				}
				after := *before
				after.Password, after.Updated = hash, now()
				return &after, nil
			})
			if err != nil {
				return userView{}, err
			}
			if err := d.EndSessions(ctx, p.Username, ""); err != nil {
				return userView{}, err
			}
			return showUser(account), nil
		}), command.Nameless)
}

// maySetPassword checks the current password of users who set their own,
// otherwise the permission to set others'.
func (d *Directory) maySetPassword(ctx context.Context, caller sluice.User, p passwordSetParams) error {
	if p.Username != caller.Name {
		if !caller.May("iam.user.put") {
			return sluice.Errorf(sluice.CodeForbidden, "To set another user's password you need the permission iam.user.put.")
		}
		return checkUsername(p.Username)
	}
	if p.Current == nil {
		return sluice.Errorf(sluice.CodeParameterMissing, "The parameter current is required to set your own password.").About("current")
	}
	if _, err := d.Login(ctx, caller.Name, *p.Current, caller.Address); err != nil {
		if sluice.AsError(err).Kind != sluice.Unauthenticated {
			return err
		}
		return sluice.Errorf(sluice.CodePasswordWrong, "The current password is not right.").About("current")
	}
	return nil
}
