package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"
)

// An image is a disk in a file, with a file system of its own.
type image struct {
	parent string
	size   int64

	dir     string // holds the file and the mount point
	mounts  string // what is mounted: the file, or a device on it
	mounted bool
}

func (i *image) file() string  { return filepath.Join(i.dir, "image") }
func (i *image) point() string { return filepath.Join(i.dir, "mnt") }
func (i *image) data() string  { return filepath.Join(i.point(), "data") }

// setUp implements disk.
func (i *image) setUp() (data string, err error) {
	if err := i.format(); err != nil {
		return "", err
	}
	i.mounts = i.file()
	return i.data(), i.mount()
}

// format makes the file, and a file system in it.
func (i *image) format() (err error) {
	if i.dir, err = os.MkdirTemp(i.parent, "torture-"); err != nil {
		return err
	}
	if err := os.Mkdir(i.point(), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(i.file(), nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(i.file(), i.size); err != nil {
		return err
	}
	return execute("mkfs.ext4", "-q", "-F", i.file())
}

// clear implements disk.
func (i *image) clear() error {
	if err := i.unmount(); err != nil {
		// Its name goes now, and the rest when the last process closes it.
		if lazy := execute("umount", "--lazy", i.point()); lazy != nil {
			return errors.Join(err, lazy)
		}
		i.mounted = false
	}
	return os.RemoveAll(i.dir)
}

func (i *image) mount() error {
	err := execute("mount", "-o", "loop", i.mounts, i.point())
	i.mounted = err == nil
	return err
}

// unmount waits for processes that still have files open, within bounds.
func (i *image) unmount() (err error) {
	for range 50 {
		if !i.mounted {
			return nil
		}
		if err = execute("umount", i.point()); err == nil {
			i.mounted = false
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// sync stores all that was written so far.
func (i *image) sync() error { return execute("sync", "--file-system", i.point()) }

const (
	ext4Shutdown = 0x8004587d // EXT4_IOC_SHUTDOWN
	noLogFlush   = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH: the journal ends where it is
)

// shutDown makes the file system fail from now on, as if its disk had gone.
func (i *image) shutDown() error {
	point, err := os.Open(i.point())
	if err != nil {
		return err
	}
	defer point.Close()
	flags := uint32(noLogFlush)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, point.Fd(), ext4Shutdown,
		uintptr(unsafe.Pointer(&flags))); errno != 0 {
		return fmt.Errorf("shutting the file system down: %w", errno)
	}
	return nil
}

// execute runs a command to its end.
func execute(name string, args ...string) error {
	if out, err := command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(out))
	}
	return nil
}
