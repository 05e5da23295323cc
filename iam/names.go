package iam

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"sluice"
)

var (
	validUsername = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$`)
	validRole     = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	validClient   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	permissions   = regexp.MustCompile(`^([A-Za-z0-9._@:+-]+\*?|\*)$`)
)

// distinct returns the items of a list in order, each once.
func distinct(list []string) []string {
	return orEmpty(slices.Compact(slices.Sorted(slices.Values(list))))
}

// orEmpty makes a list show as [] rather than null.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func checkUsername(username string) error {
	if strings.EqualFold(username, sluice.AnonymousName) {
		return builtin("The user " + sluice.AnonymousName)
	}
	if !validUsername.MatchString(username) {
		return sluice.InvalidParameter("username", "The parameter username must be 1 to 128 letters, digits, dots, "+
			"_, @, + and -, beginning with a letter or digit.")
	}
	return nil
}
