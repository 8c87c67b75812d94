//go:build !windows

package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// isFull reports whether err says that the disk or the quota is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// SyncDir implements Disk.
func (System) SyncDir(dir string) error {
	d, err := os.Open(filepath.FromSlash(dir))
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil // some network file systems sync folders on their own and refuse the call
	}
	return errors.Join(err, d.Close())
}

// Lock implements Disk.
func (System) Lock(name, holder string) (io.Closer, error) {
	f, err := os.OpenFile(filepath.FromSlash(name), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		held := &lockedError{Path: name}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			var room [200]byte
			n, _ := f.ReadAt(room[:], 0)
			held.Holder = strings.TrimSpace(strings.ToValidUTF8(string(room[:n]), ""))
			err = held
		}
		_ = f.Close() // nothing was written
		return nil, err
	}
	// The holder's name is for messages only: a full disk must not make Lock fail.
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(holder+"\n"), 0)
	return f, nil
}
