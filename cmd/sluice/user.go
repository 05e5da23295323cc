package main

import "context"

func (t *cli) userPassword(ctx context.Context) error {
	whose := "Your password"
	if len(t.Args) > 0 {
		whose = "The password of " + t.Args[0]
	} else if !t.Params.Has("current") && t.Asks() {
		current, err := t.AskSecret(ctx, "Current password: ")
		if err != nil {
			return err
		}
		t.Params.Set("current", current)
	}
	password, err := t.SecretValue(ctx, "New password")
	if err != nil {
		return err
	}
	t.Params.Set("password", password)
	return t.Do(ctx, "%s is set.", whose)
}
