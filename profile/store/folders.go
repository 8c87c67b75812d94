package store

import (
	"errors"
	"fmt"
	"iter"
)

// Folder is a directory of samples on a disk.
type Folder struct {
	Name string // as the user wrote it, for messages
	Disk Disk   // nil is System
	Root string // the directory on the disk
}

// Folders reads several directories as one.
type Folders struct{ all []Folder }

// OpenFolders returns a reader of the directories all.
func OpenFolders(all []Folder) *Folders { return &Folders{all} }

// Ticks returns the ticks of all directories, as Reader.Ticks does of one.
func (f *Folders) Ticks(q Query) iter.Seq2[HostTick, error] {
	return func(yield func(HostTick, error) bool) {
		for _, d := range f.all {
			for t, err := range OpenDir(d.Disk, d.Root).Ticks(q) {
				if errors.Is(err, ErrChanged) {
					err = fmt.Errorf("%s: %w", d.Name, err)
				}
				if !yield(t, err) || err != nil {
					return
				}
			}
		}
	}
}
