package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// A device stands for the hardware below a file system: a file of a FUSE file system that
// a loop device lies on. What is written to it is volatile until a flush, as in the cache
// of a real disk, and it misbehaves on command.
type device struct {
	fs.Inode

	stable *os.File // what a power cut leaves
	size   int64
	server *fuse.Server

	mu       sync.Mutex
	volatile map[int64][]byte // blocks, by their number
	is       misbehaviour
	reads    int
	writes   int
	flushes  int
}

// A misbehaviour is what a device does to requests.
type misbehaviour struct {
	delay time.Duration // of each flush
	hangs chan struct{} // flushes wait until it is closed
	write syscall.Errno // answered to each write
	flush syscall.Errno // answered to each flush, which stores nothing
	once  bool          // only the first such answer
	lies  bool          // flushes are answered as done, and store nothing
	gone  bool          // nothing is read or written any more
}

const deviceBlock = 4096

// newDevice shows a file as a device in a folder.
func newDevice(file, folder string) (*device, error) {
	stable, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	info, err := stable.Stat()
	if err != nil {
		return nil, errors.Join(err, stable.Close())
	}
	d := &device{stable: stable, size: info.Size(), volatile: make(map[int64][]byte)}
	root := &deviceFolder{device: d}
	options := &fs.Options{MountOptions: fuse.MountOptions{
		DirectMountStrict: true, MaxWrite: 1 << 20, FsName: "torture",
	}}
	if d.server, err = fs.Mount(folder, root, options); err != nil {
		return nil, errors.Join(err, stable.Close())
	}
	return d, nil
}

// A deviceFolder holds a device.
type deviceFolder struct {
	fs.Inode

	device *device
}

const deviceName = "disk"

// OnAdd implements fs.NodeOnAdder.
func (f *deviceFolder) OnAdd(ctx context.Context) {
	f.AddChild(deviceName, f.NewPersistentInode(ctx, f.device, fs.StableAttr{Mode: fuse.S_IFREG}), true)
}

// close takes the device away.
func (d *device) close() error {
	d.set(misbehaviour{gone: true})
	return errors.Join(d.server.Unmount(), d.stable.Close())
}

// set makes the device misbehave from now on. Flushes that hang are let go.
func (d *device) set(m misbehaviour) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.is.hangs != nil && d.is.hangs != m.hangs {
		close(d.is.hangs)
	}
	d.is = m
}

// cut takes the power away: of what was not flushed, each block is stored or not, as it
// comes. A device that lies keeps none of them.
func (d *device) cut(random *rand.Rand) (err error) {
	d.mu.Lock()
	lied := d.is.lies
	d.mu.Unlock()
	d.set(misbehaviour{gone: true})
	d.mu.Lock()
	defer d.mu.Unlock()
	for number, block := range d.volatile {
		if !lied && random.IntN(2) == 0 {
			_, failed := d.stable.WriteAt(block, number*deviceBlock)
			err = errors.Join(err, failed)
		}
	}
	clear(d.volatile)
	return err
}

// Getattr implements fs.NodeGetattrer.
func (d *device) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size = fuse.S_IFREG|0o600, uint64(d.size)
	return 0
}

// Open implements fs.NodeOpener. What the kernel has cached before is dropped.
func (d *device) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, 0, 0
}

// Read implements fs.NodeReader.
func (d *device) Read(_ context.Context, _ fs.FileHandle, into []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads++
	if d.is.gone {
		return nil, syscall.EIO
	}
	n, err := d.stable.ReadAt(into, at)
	if err != nil && err != io.EOF {
		return nil, syscall.EIO
	}
	into = into[:n]
	for covered := 0; covered < n; {
		number, from := (at+int64(covered))/deviceBlock, int((at+int64(covered))%deviceBlock)
		length := min(deviceBlock-from, n-covered)
		if block := d.volatile[number]; block != nil {
			copy(into[covered:covered+length], block[from:])
		}
		covered += length
	}
	return fuse.ReadResultData(into), 0
}

// Write implements fs.NodeWriter.
func (d *device) Write(_ context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes++
	switch {
	case d.is.gone:
		return 0, syscall.EIO
	case d.is.write != 0:
		failed := d.is.write
		if d.is.once {
			d.is.write = 0
		}
		return 0, failed
	}
	for done := 0; done < len(data); {
		number, from := (at+int64(done))/deviceBlock, int((at+int64(done))%deviceBlock)
		block := d.volatile[number]
		if block == nil {
			block = make([]byte, deviceBlock)
			if from > 0 || len(data)-done < deviceBlock {
				if _, err := d.stable.ReadAt(block, number*deviceBlock); err != nil && err != io.EOF {
					return 0, syscall.EIO
				}
			}
			d.volatile[number] = block
		}
		done += copy(block[from:], data[done:])
	}
	return uint32(len(data)), 0
}

// Fsync implements fs.NodeFsyncer: it is what a flush comes to.
func (d *device) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	d.mu.Lock()
	delay, hangs := d.is.delay, d.is.hangs
	d.flushes++
	d.mu.Unlock()
	time.Sleep(delay)
	if hangs != nil {
		<-hangs
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.is.gone:
		return syscall.EIO
	case d.is.flush != 0:
		failed := d.is.flush
		if d.is.once {
			d.is.flush = 0
		}
		return failed
	case d.is.lies:
		return 0
	}
	for number, block := range d.volatile {
		if _, err := d.stable.WriteAt(block, number*deviceBlock); err != nil {
			return syscall.EIO
		}
	}
	clear(d.volatile)
	return 0
}

// A faultyDisk is an image on a device that misbehaves.
type faultyDisk struct {
	image

	device *device
}

// setUp implements disk.
func (f *faultyDisk) setUp() (data string, err error) {
	if err := f.format(); err != nil {
		return "", err
	}
	folder := filepath.Join(f.dir, "device")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	if f.device, err = newDevice(f.file(), folder); err != nil {
		return "", err
	}
	f.mounts = filepath.Join(folder, deviceName)
	return f.data(), f.mount()
}

// clear implements disk.
func (f *faultyDisk) clear() error {
	if f.device == nil {
		return f.image.clear()
	}
	f.device.set(misbehaviour{})
	err := f.unmount()
	err = errors.Join(err, f.device.close())
	f.device = nil
	return errors.Join(err, f.image.clear())
}

// cutPower halts the server, takes the power from its disk, and mounts the disk as it is
// found when the power comes back.
func (f *faultyDisk) cutPower(random *rand.Rand, s *server) error {
	s.signal(syscall.SIGSTOP)
	time.Sleep(settled)
	err := f.device.cut(random)
	s.kill()
	return errors.Join(err, f.restart())
}

// restart mounts the disk again, which is well from now on.
func (f *faultyDisk) restart() error {
	err := f.unmount()
	f.device.set(misbehaviour{})
	return errors.Join(err, f.mount())
}
