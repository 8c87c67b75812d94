//go:build !linux && !darwin

package main

import "errors"

// diskRoom fails: the room on a disk cannot be read on this system.
func diskRoom(string) (free, size uint64, err error) { return 0, 0, errors.ErrUnsupported }
