package iam

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"sluice"
	"sluice/command"
	"sluice/limit"
)

const hashLength = 32

// The cost of a password hash, as OWASP recommends for argon2id: about 50 ms.
var (
	hashMemory uint32 = 19 * 1024 // KiB
	hashPasses uint32 = 2
)

// MakePasswordsCheap has passwords hashed with hardly any work from now on. Only the TestMain
// of a package calls it whose tests make many users, and none of whose subjects is that cost.
func MakePasswordsCheap() { hashMemory, hashPasses = 8, 1 }

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

//go:embed common.txt
var commonText string

// commonWords are the words that the commonest passwords are made of.
var commonWords = sync.OnceValue(func() map[string]bool {
	words := make(map[string]bool)
	for word := range strings.FieldsSeq(commonText) {
		words[word] = true
	}
	return words
})

//go:embed commonest.txt.gz
var commonestZipped []byte

// commonest are the most common passwords of 8 characters or more, from lists of stolen
// ones.
var commonest = sync.OnceValue(func() map[string]bool {
	passwords := make(map[string]bool)
	unzip, err := gzip.NewReader(bytes.NewReader(commonestZipped))
	if err != nil {
		return passwords // a test reads it
	}
	text, _ := io.ReadAll(unzip) // see above
	for line := range strings.Lines(string(text)) {
		passwords[strings.TrimSpace(line)] = true
	}
	return passwords
})

// letterFor undoes what people write in place of letters.
var letterFor = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i")

// minDigits is how many digits a password of digits needs: shorter ones are mostly dates
// and telephone numbers.
const minDigits = 12

// isCommon reports whether a password is among those that are guessed first: one of the
// commonest; a common word or the user's name (see isWord); a pattern that repeats; a row
// of neighbours in the alphabet or on a keyboard; or a short number.
func isCommon(password, username string) bool {
	plain := strings.ToLower(password)
	if username != "" && isWord(plain, map[string]bool{strings.ToLower(username): true}) {
		return true
	}
	return commonest()[plain] || isWord(plain, commonWords()) || repeats(plain) || isRow(plain) ||
		len(plain) < minDigits && strings.Trim(plain, "0123456789") == ""
}

// isWord reports whether a text is one of some words, once or twice, perhaps with
// other characters for letters, and with digits and signs around it.
func isWord(text string, words map[string]bool) bool {
	noLetter := func(r rune) bool { return !unicode.IsLetter(r) }
	for _, given := range []string{text, strings.TrimRightFunc(text, noLetter), strings.TrimFunc(text, noLetter)} {
		for _, word := range []string{given, letterFor.Replace(given)} {
			half := word[:len(word)/2]
			if words[word] || half+half == word && words[half] {
				return true
			}
		}
	}
	return false
}

// repeats reports whether a text is a short pattern again and again.
func repeats(text string) bool {
	for size := 1; size <= 4 && size*2 <= len(text); size++ {
		if strings.HasPrefix(strings.Repeat(text[:size], len(text)/size+1), text) {
			return true
		}
	}
	return false
}

// rows are those of the alphabet and of keyboards, downwards and across.
var rows = []string{
	"abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm",
	"1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p", "1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0", "qazwsxedcrfvtgbyhnujmikolp", "zaq12wsxcde34rfv", "qweasdzxc",
}

// isRow reports whether a text is made of one or two rows of neighbours, forwards
// or backwards.
func isRow(text string) bool {
	for cut := range len(text) + 1 {
		if inRow(text[:cut]) && inRow(text[cut:]) && (cut == 0 || cut >= 3) && (cut == len(text) || len(text)-cut >= 3) {
			return true
		}
	}
	return false
}

func inRow(text string) bool {
	for _, row := range rows {
		if strings.Contains(row, text) || strings.Contains(reversed(row), text) {
			return true
		}
	}
	return len(text) > 0 && strings.Trim(text, text[:1]) == ""
}

func reversed(text string) string {
	letters := []byte(text) // rows are ASCII
	slices.Reverse(letters)
	return string(letters)
}
