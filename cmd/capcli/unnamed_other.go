//go:build !linux

package main

import (
	"errors"
	"io/fs"
)

func createUnnamed(string, fs.FileMode) (file, error) { return nil, errors.ErrUnsupported }

func linkUnnamed(file, string) error { return errors.ErrUnsupported }
