package administration

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"sluice"
	"sluice/portal/page"
)

//go:embed abilities.yaml
var abilityTable string

// meanings are what permissions allow, in words.
var meanings = sync.OnceValue(func() (all struct {
	Areas []struct {
		Name, See string
		Manage    []string // all permissions to change it; nil if nothing can be changed
	}
	Abilities []struct{ Permission, Words string } // what other permissions allow
}) {
	page.Decode(abilityTable, &all)
	return all
})

// InWords describes what someone with these permissions can do.
func InWords(v *page.Visit, permissions []string) string {
	if slices.Contains(permissions, "*") {
		return "Everything."
	}
	holder := sluice.User{Permissions: permissions}
	var managed, seen, also []string
	for _, a := range meanings().Areas {
		switch {
		case a.Manage != nil &&
			!slices.ContainsFunc(a.Manage, func(name string) bool { return !v.Allows(holder, name) }):
			managed = append(managed, a.Name)
		case v.Allows(holder, a.See):
			seen = append(seen, a.Name)
		}
	}
	for _, a := range meanings().Abilities {
		if holder.May(a.Permission) {
			also = append(also, a.Words)
		}
	}
	var sentences []string
	for _, part := range []struct {
		verb  string
		words []string
	}{{"Manage ", managed}, {"See ", seen}, {"", also}} {
		if part.words != nil {
			sentence := part.verb + enumeration(part.words) + "."
			sentences = append(sentences, strings.ToUpper(sentence[:1])+sentence[1:])
		}
	}
	switch {
	case sentences != nil:
		return strings.Join(sentences, " ")
	case permissions != nil:
		return "Nothing in the portal; only " + enumeration(permissions) + "."
	}
	return "Nothing."
}

// enumeration joins words by commas and "and".
func enumeration(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
