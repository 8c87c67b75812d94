//go:build !linux && !darwin

package main

import "errors"

// freeBytes fails: free space cannot be read on this system.
func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }
