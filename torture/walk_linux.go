package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"
)

// takeDescriptors lets the server open no more files for a while. A server that could not write ends.
func takeDescriptors(ctx context.Context, _ *walk, n *walkNode) error {
	var before syscall.Rlimit
	if err := prlimit(n.pid, nil, &before); err != nil {
		return err
	}
	from := time.Now()
	defer func() { n.stuck = append(n.stuck, period{from, time.Now()}) }()
	if err := prlimit(n.pid, &syscall.Rlimit{Cur: 16, Max: before.Max}, nil); err != nil {
		return err
	}
	sleep(ctx, time.Second)
	if err := prlimit(n.pid, &before, nil); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	n.mayEnd = time.Now().Add(endsWithin)
	return nil
}

const (
	walkDisk = 256 << 20
	nearly   = 12 << 20 // that is left of a disk on which nothing is accepted any more
)

// mountDisk gives the server a disk of its own, which can be filled, where that is possible.
func (n *walkNode) mountDisk() error {
	at := filepath.Dir(n.data)
	if err := os.Mkdir(at, 0o700); err != nil || canMount() != nil {
		return err
	}
	n.mounted = true
	return execute("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", walkDisk), "walk", at)
}

func (n *walkNode) unmountDisk() error {
	if !n.mounted {
		return nil
	}
	return execute("umount", "--lazy", filepath.Dir(n.data))
}

// fillDisk fills the disk for a while, nearly or to the last byte.
func fillDisk(ctx context.Context, w *walk, n *walkNode) error {
	if !n.mounted {
		return nil
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(n.data), &disk); err != nil {
		return err
	}
	size := int64(disk.Bavail) * disk.Bsize
	if w.random.IntN(2) == 0 {
		size -= nearly
	}
	name := filepath.Join(filepath.Dir(n.data), "ballast")
	from := time.Now()
	defer func() { n.stuck = append(n.stuck, period{from, time.Now()}) }()
	ballast, err := os.Create(name)
	if err != nil {
		return err
	}
	const page = 4 << 10
	for size = max(size, page); ; size -= page { // the server takes of it as well
		err := syscall.Fallocate(int(ballast.Fd()), 0, 0, size)
		if err == nil || size <= page {
			break
		}
		if !errors.Is(err, syscall.ENOSPC) {
			return errors.Join(err, ballast.Close())
		}
	}
	sleep(ctx, time.Duration(500+w.random.IntN(2000))*time.Millisecond)
	if err := errors.Join(ballast.Close(), os.Remove(name)); err != nil {
		return err
	}
	n.mayEnd = time.Now().Add(endsWithin)
	return nil
}

// endsWithin is how soon a server ends that can't go on.
const endsWithin = 30 * time.Second

func prlimit(pid int, limit, before *syscall.Rlimit) error {
	_, _, code := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_NOFILE,
		uintptr(unsafe.Pointer(limit)), uintptr(unsafe.Pointer(before)), 0, 0)
	if code != 0 {
		return code
	}
	return nil
}
