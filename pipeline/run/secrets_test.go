package run_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/pipeline/run"
)

// TestSecretsWork: the commands get the real thing.
func TestSecretsWork(t *testing.T) {
	f := newFixture(run.Limits{})
	out, err := f.run(t, `pipeline: [set: {value: "#{secret('key')}"}, log: {message: x}, set: {value: "#{[len(body), body == 's3' + 'cret', 'x' + secret('short')]}"}]`)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(out); got != "[6 true xabc]" {
		t.Errorf("the body is %s", got)
	}
}

// TestSecretsThatAreWholeValues: what is too short to be looked for in texts, and
// what has become a number, is hidden where it is the whole value.
func TestSecretsThatAreWholeValues(t *testing.T) {
	out, err := newFixture(run.Limits{}).run(t, `pipeline: [set: {value: "#{[secret('short'), int(secret('number')), 4711.5, 'abc', 'abcd']}"}]`)
	if got := fmt.Sprint(out); err != nil || got != "[*** *** 4711.5 *** abcd]" {
		t.Errorf("the body is %s, %v", got, err)
	}
}

// TestSecretsWithinSecrets: of a secret that starts with another one nothing is
// left over, whichever was revealed first.
func TestSecretsWithinSecrets(t *testing.T) {
	for _, order := range []string{"'key', 'longer'", "'longer', 'key'"} {
		first, second, _ := strings.Cut(order, ", ")
		out, err := newFixture(run.Limits{}).run(t, `pipeline: [set: {value: "#{[secret(`+first+`), secret(`+second+`)]}"}]`)
		if got := fmt.Sprint(out); err != nil || got != "[*** ***]" {
			t.Errorf("the body is %s, %v", got, err)
		}
	}
}
