//go:build unix

package durable

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestASyncNeedsNoDescriptor: what is synced again and again stays open.
func TestASyncNeedsNoDescriptor(t *testing.T) {
	for name, b := range map[string]*Blocks{"appended to": {}, "rewritten": {Rewritten: true}} {
		t.Run(name, func(t *testing.T) {
			b.Dir = t.TempDir()
			defer b.Close()
			writeBlocks(t, b.Dir, 1)
			written, err := os.OpenFile(b.path(1), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer written.Close()
			if err := b.Sync(); err != nil {
				t.Fatal(err)
			}
			defer useUpDescriptors(t)()
			if _, err := written.WriteString("more"); err != nil {
				t.Fatal(err)
			}
			if err := b.Sync(); err != nil {
				t.Errorf("without descriptors: %v", err)
			}
		})
	}
}

// TestADescriptorIsWaitedFor: before a sync, to have none is no failure.
func TestADescriptorIsWaitedFor(t *testing.T) {
	name, tries := filepath.Join(t.TempDir(), "file"), 0
	restore := useUpDescriptors(t)
	defer restore()
	file, err := insist(func() (*os.File, error) {
		if tries++; tries == 3 {
			restore()
		}
		return os.Create(name)
	})
	if err != nil || tries != 3 {
		t.Fatalf("after %d tries: %v", tries, err)
	}
	closeRead(file)
}

// TestALockIsNotInherited: a process that was forked while the folder was open, and shares
// its descriptors until it begins its own program, does not keep the folder locked.
func TestALockIsNotInherited(t *testing.T) {
	folder, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := syscall.Dup(int(folder.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	if _, err := OpenFolder(folder.path); err == nil {
		t.Error("an open folder can be opened again")
	}
	folder.Close()
	again, err := OpenFolder(folder.path)
	if err != nil {
		t.Fatalf("a closed folder: %v", err)
	}
	again.Close()
}

// useUpDescriptors lets no file be opened until the function is called that it returns.
func useUpDescriptors(t *testing.T) (restore func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	if file, err := os.Open(os.DevNull); err == nil {
		closeRead(file)
		t.Fatal("there is still a descriptor")
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}
}
