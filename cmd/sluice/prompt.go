package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// ask asks the person at the terminal for a line.
func (t *terminal) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(t.err, question)
	return t.await(ctx, func() (string, error) {
		line, err := bufio.NewReader(t.in).ReadString('\n')
		return strings.TrimSpace(line), err
	})
}

// confirm asks before a change that can't be undone.
func (t *terminal) confirm(ctx context.Context, question string) error {
	if t.yes {
		return nil
	}
	if !isTerminal(t.in) {
		return usage("This is not a terminal to ask on; add --yes if you mean it.")
	}
	answer, err := t.ask(ctx, question+" [y/N] ")
	if err != nil {
		return err
	}
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		return fail(exitOther, "Nothing was done.")
	}
	return nil
}

func (t *terminal) addYes(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&t.yes, "yes", "y", false, "do it without a question")
}

// secretValue returns a secret that is piped in, or asks for it twice.
func (t *terminal) secretValue(ctx context.Context, question string) (string, error) {
	if !isTerminal(t.in) {
		content, err := t.read("-")
		if err != nil {
			return "", err
		}
		return strings.TrimRight(string(content), "\r\n"), nil
	}
	value, err := t.askSecret(ctx, question+": ")
	if err != nil {
		return "", err
	}
	again, err := t.askSecret(ctx, "Again: ")
	if err != nil {
		return "", err
	}
	if value != again {
		return "", usage("These are not the same; try again.")
	}
	return value, nil
}

// askSecret asks for a line that is not shown.
func (t *terminal) askSecret(ctx context.Context, question string) (string, error) {
	fmt.Fprint(t.err, question)
	defer fmt.Fprintln(t.err)
	return t.await(ctx, func() (string, error) {
		secret, err := term.ReadPassword(int(t.in.Fd()))
		return string(secret), err
	})
}

// await waits for input. Nothing can stop the read, but when ctx ends await returns,
// and restores the terminal so that the shell shows again what is typed.
func (t *terminal) await(ctx context.Context, read func() (string, error)) (string, error) {
	before, err := term.GetState(int(t.in.Fd()))
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
		_ = term.Restore(int(t.in.Fd()), before) // nothing more can be done
		return "", ctx.Err()
	case got := <-done:
		if got.err != nil {
			return "", usage("The input has ended.")
		}
		return got.text, nil
	}
}
