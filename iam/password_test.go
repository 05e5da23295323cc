package iam

import (
	"strings"
	"testing"

	"sluice"
)

func TestCommonPasswords(t *testing.T) {
	for _, password := range []string{
		"password", "Password1", "P@ssw0rd", "passw0rd123!", "pa$$word", "12345678", "123456789", "87654321", "11111111", "00000000",
		"qwertyuiop", "qwerty123", "qwertz12", "1q2w3e4r", "1q2w3e4r5t", "1qaz2wsx", "zaq12wsx", "asdfghjkl", "asdf1234", "abcd1234",
		"abcdefgh", "iloveyou", "iloveyou2", "sunshine", "princess", "football", "baseball", "superman", "trustno1", "starwars",
		"whatever", "jennifer", "michelle", "liverpool", "letmein1", "letmein123", "welcome1", "Welcome123", "welcome2024!", "admin123",
		"administrator", "adminadmin", "changeme", "changeme1", "secret123", "testtest", "test1234", "computer", "internet", "12121212",
		"abcabcabc", "19840101", "0123456789", "monkey123", "dragon12", "master123", "aaaaaaaa", "aaaabbbb", "qweasdzxc", "summer2024",
		"sluice123", "webhooks!", "alice-2024", "maverick", "12qwaszx", "R2D2C3PO", "a1b2c3d4", "gfhjkm123",
	} {
		if !isCommon(password, "alice") {
			t.Errorf("%s is not taken for a common password", password)
		}
	}
	for _, password := range []string{
		"correct horse", "battery staple", "a-short-tour", "tortoise-lamp", "admin-password", "k3v9x2mq", "Zitronenfalter", "möwe am kai",
		"hx82kd93jf", "passwords are hard", "194837261504", "rita reads with pleasure", "4c1jq7wzt2",
	} {
		if isCommon(password, "alice") {
			t.Errorf("%s is taken for a common password", password)
		}
	}
}

// TestTheCommonestPasswords: at least the 3,000 commonest are known.
func TestTheCommonestPasswords(t *testing.T) {
	const enough = 3000
	if known := len(commonest()); known < enough {
		t.Errorf("%d are known", known)
	}
}

func TestWeakPasswordsAreRefused(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.user.put", `{"username":"ada","password":"correct horse","roles":["viewer"]}`)
	for _, password := range []string{"", "x", "sevench", "äöüäöüä", "password1", "ada12345", strings.Repeat("xy z", 300), "with\tcontrol"} {
		quoted := strings.ReplaceAll(password, "\t", `\t`)
		for name, arguments := range map[string]string{
			"iam.user.put":     `{"username":"ada","password":"` + quoted + `"}`,
			"iam.password.set": `{"username":"ada","password":"` + quoted + `"}`,
		} {
			_, err := call(t, d, "admin", name, arguments)
			wantCode(t, err, sluice.Invalid, "parameter-invalid")
			if got := sluice.AsError(err).Parameter; got != "password" {
				t.Errorf("the parameter at fault is %q", got)
			}
		}
	}
	must(t, d, "admin", "iam.password.set", `{"username":"ada","password":"äöü ßÄÖÜ"}`) // 8 characters
}

// TestOnesOwnPasswordTakesTheOneBefore: whoever finds a session open must not be
// able to keep the account.
func TestOnesOwnPasswordTakesTheOneBefore(t *testing.T) {
	d := newDirectory(t)
	_, err := call(t, d, "admin", "iam.user.put", `{"username":"admin","password":"taken over by me"}`)
	wantCode(t, err, sluice.Invalid, "parameter-invalid")
	if e := sluice.AsError(err); e.Parameter != "password" || !strings.Contains(e.Message, "iam.password.set") {
		t.Errorf("the error is about %s: %s", e.Parameter, e.Message)
	}
	must(t, d, "admin", "iam.user.put", `{"username":"admin","roles":["admin","viewer"]}`)
	must(t, d, "admin", "iam.password.set", `{"password":"a better one","current":"admin-password"}`)
}

func TestAWeakFirstPasswordIsRefused(t *testing.T) {
	d := newDirectory(t)
	if _, _, err := Bootstrap(t.Context(), d.Accounts, "tour"); err != nil {
		t.Errorf("it counts although there is an admin: %v", err)
	}
	if err := sluice.Remove(t.Context(), d.Accounts, sluice.AdminName); err != nil {
		t.Fatal(err)
	}
	for _, check := range []func() error{
		func() error { return CheckFirst(t.Context(), d.Accounts, "tour") },
		func() error { _, _, err := Bootstrap(t.Context(), d.Accounts, "tour"); return err },
	} {
		err := check()
		wantCode(t, err, sluice.Invalid, "parameter-invalid")
		if !strings.HasPrefix(err.Error(), "SLUICE_ADMIN_PASSWORD") {
			t.Errorf("the error does not name the variable: %v", err)
		}
	}
	if created, generated, err := Bootstrap(t.Context(), d.Accounts, ""); !created || generated == "" || err != nil {
		t.Errorf("%v, %q, %v", created, generated, err)
	}
}
