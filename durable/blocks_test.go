package durable

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func writeBlocks(t *testing.T, dir string, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(n)+".blk"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBlocksMayComeAndGo(t *testing.T) {
	dir := t.TempDir()
	b := &Blocks{Dir: dir}
	if err := b.Sync(); err == nil {
		t.Error("a folder without blocks passed for synced")
	}
	step := func(what string, newest int) {
		t.Helper()
		if err := b.Sync(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if b.newest != newest {
			t.Errorf("%s: the newest block is %d, want %d", what, b.newest, newest)
		}
	}
	writeBlocks(t, dir, 1)
	step("first block", 1)
	writeBlocks(t, dir, 2, 3)
	step("two new blocks at once", 3)
	if err := os.Remove(b.path(1)); err != nil {
		t.Fatal(err)
	}
	step("an old block removed by retention", 3)
	writeBlocks(t, dir, 7)
	for _, n := range []int{2, 3} {
		if err := os.Remove(b.path(n)); err != nil {
			t.Fatal(err)
		}
	}
	step("the newest block replaced by a later one", 7)
	if err := os.Remove(b.path(7)); err != nil {
		t.Fatal(err)
	}
	if err := b.Sync(); err == nil {
		t.Error("a folder that has lost its blocks passed for synced")
	}
}

func TestAWriterWaitsForASyncThatBeganLater(t *testing.T) {
	started, finish := make(chan struct{}), make(chan struct{})
	f := &Flusher{Sync: func() error {
		started <- struct{}{}
		<-finish
		return nil
	}}
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- f.Flush(t.Context()) }()
	<-started
	go func() { second <- f.Flush(t.Context()) }()
	finish <- struct{}{}
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	<-started // a sync of its own for the second
	select {
	case <-second:
		t.Error("the second writer was released by a sync that began before it wrote")
	default:
	}
	finish <- struct{}{}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
}
