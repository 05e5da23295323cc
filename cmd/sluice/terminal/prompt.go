package terminal

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"golang.org/x/term"

	"sluice/cmd/sluice/exit"
)

// Ask asks the person at the terminal for a line.
func (t *Terminal) Ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(t.Err, question)
	return t.await(ctx, func() (string, error) {
		line, err := bufio.NewReader(t.In).ReadString('\n')
		return strings.TrimSpace(line), err
	})
}

// Confirm asks before a change that can't be undone.
func (t *Terminal) Confirm(ctx context.Context, question string) error {
	if t.On("yes") {
		return nil
	}
	if !t.Asks() {
		return exit.Usage("This is not a terminal to ask on; add --yes if you mean it.")
	}
	answer, err := t.Ask(ctx, question+" [y/N] ")
	if err != nil {
		return err
	}
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		return exit.Errorf(exit.Other, "Nothing was done.")
	}
	return nil
}

// SecretValue returns a secret that is piped in, or asks for it twice.
func (t *Terminal) SecretValue(ctx context.Context, question string) (string, error) {
	if !t.Asks() {
		content, err := t.Read("-")
		if err != nil {
			return "", err
		}
		return strings.TrimRight(string(content), "\r\n"), nil
	}
	value, err := t.AskSecret(ctx, question+": ")
	if err != nil {
		return "", err
	}
	again, err := t.AskSecret(ctx, "Again: ")
	if err != nil {
		return "", err
	}
	if value != again {
		return "", exit.Usage("These are not the same; try again.")
	}
	return value, nil
}

// AskSecret asks for a line that is not shown.
func (t *Terminal) AskSecret(ctx context.Context, question string) (string, error) {
	fmt.Fprint(t.Err, question)
	defer fmt.Fprintln(t.Err)
	return t.await(ctx, func() (string, error) {
		secret, err := term.ReadPassword(int(t.In.Fd()))
		return string(secret), err
	})
}

// await waits for input. Nothing can stop the read, but when ctx ends await returns,
// and restores the terminal so that the shell shows again what is typed.
func (t *Terminal) await(ctx context.Context, read func() (string, error)) (string, error) {
	before, err := term.GetState(int(t.In.Fd()))
	if err != nil {
		return "", err
	}
	type input struct {
		text string
		err  error
	}
	done := make(chan input, 1)
	go func() {
		text, err := read()
		done <- input{text, err}
	}()
	select {
	case <-ctx.Done():
		_ = term.Restore(int(t.In.Fd()), before) // nothing more can be done
		return "", ctx.Err()
	case got := <-done:
		if got.err != nil {
			return "", exit.Usage("The input has ended.")
		}
		return got.text, nil
	}
}
