package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// damageMode damages one file of a store after the other, each in every way, and checks that each
// loss is told, and told exactly.
var damageMode = mode{
	name:    "damage",
	summary: "damage one file of a store after the other",
	run:     runDamage,
}

// A harm is what may happen to a file.
type harm struct {
	name string
	do   func(file string) error
}

var fileHarms = []harm{
	{"zeros", func(file string) error {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		return os.WriteFile(file, make([]byte, info.Size()), 0o600)
	}},
	{"cut", func(file string) error {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		return os.Truncate(file, info.Size()/2)
	}},
	{"missing", os.Remove},
	{"flipped", func(file string) error {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for i := range min(64, len(content)) {
			content[(len(content)/2+i)%len(content)] ^= 0xff
		}
		return os.WriteFile(file, content, 0o600)
	}},
}

// A damageCase is one file, one harm, after a clean stop or a kill.
type damageCase struct {
	file   string // below the store
	harm   harm
	killed bool
}

func (c damageCase) String() string {
	after := "after a clean stop"
	if c.killed {
		after = "after a kill"
	}
	return c.file + " " + c.harm.name + " " + after
}

func runDamage(ctx context.Context, s settings) error {
	dir, err := os.MkdirTemp(s.dir, "torture-damage-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	whole, err := fillStore(ctx, filepath.Join(dir, "whole"))
	if err != nil {
		return err
	}
	cases, err := whole.cases(s)
	if err != nil {
		return err
	}
	sums, failed := make(map[string]*damageSum), 0
	for i, c := range cases {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(os.Stderr, "%d of %d: %v\n", i+1, len(cases), c)
		found, err := whole.try(ctx, filepath.Join(dir, "copy"), c, nil)
		if err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
		sum := sums[c.harm.name]
		if sum == nil {
			sum = new(damageSum)
			sums[c.harm.name] = sum
		}
		sum.add(found)
		if problem := found.judge(); problem != "" {
			failed++
			fmt.Printf("%v: %s\n", c, problem)
		}
	}
	blind, err := whole.negative(ctx, filepath.Join(dir, "copy"))
	if err != nil {
		return err
	}
	if err := printDamage(sums, len(cases), failed, blind); err != nil {
		return err
	}
	switch {
	case blind:
		return errors.New("negative control: a loss that nothing tells of is not noticed: the test is blind")
	case failed > 0:
		return fmt.Errorf("%d of %d damages were not told, or not exactly", failed, len(cases))
	}
	return nil
}

// cases lists all damages, or as many as -cycles says, chosen at random.
func (w *wholeStore) cases(s settings) (cases []damageCase, err error) {
	err = filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(w.dir, path)
		if err != nil {
			return err
		}
		if s.faults != "" && !strings.Contains(below, s.faults) {
			return nil
		}
		for _, h := range fileHarms {
			for _, killed := range []bool{false, true} {
				if !killed || filepath.Base(below) != stopFile && filepath.Base(below) != "index.db" {
					cases = append(cases, damageCase{below, h, killed})
				}
			}
		}
		return nil
	})
	random := s.random()
	random.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	return cases[:min(len(cases), s.cycles*damagesPerCycle)], err
}

// damagesPerCycle is how many files are damaged for each of -cycles.
const damagesPerCycle = 40

// damageSum adds up what was found.
type damageSum struct{ cases, lost, told, unready int }

func (s *damageSum) add(f damageFinding) {
	s.cases++
	s.lost += f.lost
	s.told += f.told
	if f.problem != "" {
		s.unready++
	}
}

func printDamage(sums map[string]*damageSum, cases, failed int, blind bool) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\n\tfiles\tevents lost\tevents told\trefuses to serve\t")
	for _, h := range fileHarms {
		if s := sums[h.name]; s != nil {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t\n", h.name, s.cases, s.lost, s.told, s.unready)
		}
	}
	verdict := "ok: silence is noticed"
	if blind {
		verdict = "BLIND"
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("%d damages, %d not told exactly; negative control: %s\n", cases, failed, verdict)
	return nil
}
