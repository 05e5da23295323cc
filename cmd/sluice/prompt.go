package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sluice/manifest"

	"github.com/schollz/progressbar/v3"
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
func (t *terminal) confirm(ctx context.Context, yes bool, question string) error {
	if yes {
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
		return &failure{code: exitOther, message: "Nothing was done."}
	}
	return nil
}

func addYes(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVarP(yes, "yes", "y", false, "do it without a question")
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

// A progress shows people how far long work has come.
type progress struct {
	bar  *progressbar.ProgressBar // nil if it is not shown
	stop chan struct{}
	done chan struct{}
}

// worthShowing is how many steps make work long.
const worthShowing = 3

// progress shows work of that many steps; -1 means an unknown number.
func (t *terminal) progress(steps int, what string) *progress {
	if !isTerminal(t.err) || steps >= 0 && steps < worthShowing {
		return &progress{}
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(t.err),
		progressbar.OptionSetDescription(what),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionSetSpinnerChangeInterval(0), // we turn it
		progressbar.OptionSetElapsedTime(true),
	}
	if steps >= 0 {
		return &progress{bar: progressbar.NewOptions(steps, append(options, progressbar.OptionShowCount())...)}
	}
	p := &progress{bar: progressbar.NewOptions(-1, append(options, progressbar.OptionSpinnerType(14))...)}
	p.stop, p.done = make(chan struct{}), make(chan struct{})
	go p.turn()
	return p
}

// turn shows that the program is alive.
func (p *progress) turn() {
	defer close(p.done)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		_ = p.bar.Add(1) // fails if it can't be shown
		select {
		case <-p.stop:
			return
		case <-tick.C:
		}
	}
}

// step notes that a step is done.
func (p *progress) step() { p.steps(1) }

// steps notes that some steps are done, if their number is known.
func (p *progress) steps(done int) {
	if p.bar != nil && p.stop == nil {
		_ = p.bar.Add(done)
	}
}

// end takes the progress off the screen. It may be called twice.
func (p *progress) end() {
	if p.bar == nil {
		return
	}
	if p.stop != nil {
		close(p.stop)
		<-p.done
	}
	_ = p.bar.Clear()
	p.bar, p.stop = nil, nil
}

// transfer shows how many of all bytes have come. An all of 0 means that reachOf
// tells it later, and -1 that nobody knows it.
func (t *terminal) transfer(all int64, what string) *progress {
	if !isTerminal(t.err) {
		return &progress{}
	}
	return &progress{bar: progressbar.NewOptions64(max(all, -1),
		progressbar.OptionSetWriter(t.err),
		progressbar.OptionSetDescription(what),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
	)}
}

// reach notes how many bytes have come.
func (p *progress) reach(done int64) {
	if p.bar != nil {
		_ = p.bar.Set64(done) // fails if it can't be shown
	}
}

// reachOf notes how many of all bytes have come.
func (p *progress) reachOf(done, all int64) {
	if p.bar != nil && p.bar.GetMax64() != all {
		p.bar.ChangeMax64(all)
	}
	p.reach(done)
}

// readBody returns the content of a file, or the text itself if it looks like JSON and
// not like the name of a file.
func (t *terminal) readBody(text string) ([]byte, error) {
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, `"`) {
		return []byte(text), nil
	}
	return t.read(strings.TrimPrefix(text, "@"))
}

// filesIn returns the files that arguments name, and all pipelines in the folders that
// they name.
func filesIn(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		if arg == "-" { // standard input
			files = append(files, arg)
			continue
		}
		info, err := os.Stat(arg)
		if err != nil {
			return nil, usage("%v", err)
		}
		if !info.IsDir() {
			files = append(files, arg)
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, usage("%v", err)
		}
		found := len(files)
		for _, entry := range entries {
			if !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") && manifest.NameOf(entry.Name()) != entry.Name() {
				files = append(files, filepath.Join(arg, entry.Name()))
			}
		}
		if len(files) == found {
			return nil, usage("The folder %s has no files that end in .yaml, .yml or .json.", arg)
		}
	}
	return files, nil
}
