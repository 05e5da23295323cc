package main

import "context"

// stored is what the output shows of a profile.
type stored struct {
	Profile  string `json:"profile"`
	URL      string `json:"url"`
	Username string `json:"username"`
	Current  bool   `json:"current"`
}

func (t *cli) profileUse(context.Context) error {
	profiles, err := t.Profiles()
	if err != nil {
		return err
	}
	name := t.Args[0]
	if err := profiles.Use(name); err != nil {
		return err
	}
	login, err := profiles.Load(name)
	if err != nil {
		return err
	}
	return t.Report(stored{name, login.URL, login.Username, true},
		"The profile %s is the current one: %s at %s.", name, login.Username, login.URL)
}

func (t *cli) profileDelete(context.Context) error {
	profiles, err := t.Profiles()
	if err != nil {
		return err
	}
	if err := profiles.Delete(t.Args[0]); err != nil {
		return err
	}
	return t.Report(map[string]any{"profile": t.Args[0], "deleted": true}, "The profile %s is forgotten.", t.Args[0])
}

func (t *cli) profileList(context.Context) error {
	profiles, err := t.Profiles()
	if err != nil {
		return err
	}
	names, err := profiles.Names()
	if err != nil {
		return err
	}
	current, all := t.ProfileName(profiles), []stored{}
	for _, name := range names {
		login, err := profiles.Load(name)
		if err != nil {
			return err
		}
		all = append(all, stored{name, login.URL, login.Username, name == current})
	}
	if len(all) == 0 {
		t.Notef("There are no stored logins; sluice login makes one.")
	}
	return t.ShowValue(all)
}
