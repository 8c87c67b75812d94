//go:build !linux && !darwin

package main

import "errors"

// freeBytes is not told on this system.
func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }
