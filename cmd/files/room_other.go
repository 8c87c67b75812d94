//go:build !linux && !darwin

package files

import "errors"

// Room fails: the room on a disk cannot be read on this system.
func Room(string) (free, size uint64, err error) { return 0, 0, errors.ErrUnsupported }
