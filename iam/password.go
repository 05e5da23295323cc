package iam

import (
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"sluice"
	"sluice/limit"
)

const hashLength = 32

// The cost of a password hash, as OWASP recommends for argon2id: about 50 ms.
var (
	hashMemory uint32 = 19 * 1024 // KiB
	hashPasses uint32 = 2
)

// MakePasswordsCheap has passwords hashed with hardly any work from now on. It is for TestMain
// of packages whose tests create many users.
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
		return sluice.InvalidParameter("password", "The password must have at most %d bytes and no control characters.",
			limit.MaxPassword)
	case isCommon(normal, username):
		return sluice.InvalidParameter("password", "This password is among the first that anyone would guess; a few "+
			"words that don't belong together are better.")
	}
	return nil
}

// hashPassword returns the stored form of a password.
func hashPassword(password string) string {
	salt := sluice.RandomBytes(16)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, hashMemory, hashPasses,
		base64.RawStdEncoding.EncodeToString(salt),
		base64.RawStdEncoding.EncodeToString(argon2.IDKey([]byte(password), salt, hashPasses, hashMemory, 1,
			hashLength)))
}

// verify reports whether a password belongs to a stored form.
func verify(stored, password string) bool {
	var version int
	var memory, passes uint32
	var encoded string
	_, err := fmt.Sscanf(stored, "$argon2id$v=%d$m=%d,t=%d,p=1$%s", &version, &memory, &passes, &encoded)
	before, behind, _ := strings.Cut(encoded, "$")
	salt, saltErr := base64.RawStdEncoding.DecodeString(before)
	want, wantErr := base64.RawStdEncoding.DecodeString(behind)
	if err != nil || version != argon2.Version || saltErr != nil || wantErr != nil || len(want) == 0 {
		return false
	}
	got := argon2.IDKey([]byte(password), salt, passes, memory, 1, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1
}
