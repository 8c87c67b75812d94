package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// isFull reports whether err says that the disk is full.
func isFull(err error) bool {
	const diskFull, handleDiskFull = syscall.Errno(112), syscall.Errno(39)
	return errors.Is(err, diskFull) || errors.Is(err, handleDiskFull)
}

// SyncDir implements Disk. It does nothing: Windows cannot sync a folder.
func (System) SyncDir(string) error { return nil }

// Lock implements Disk: it opens the file without sharing, so that no other program can open it.
func (System) Lock(name, holder string) (io.Closer, error) {
	const sharingViolation = syscall.Errno(32)
	p, err := syscall.UTF16PtrFromString(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(p, syscall.GENERIC_WRITE, 0, nil, syscall.CREATE_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, &lockedError{Path: name}
	}
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(h), name)
	_, _ = f.WriteString(holder + "\n") // for messages only
	return f, nil
}
