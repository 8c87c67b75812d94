//go:build !linux

package files

import (
	"errors"
	"io/fs"
)

func createUnnamed(string, fs.FileMode) (File, error) { return nil, errors.ErrUnsupported }

func linkUnnamed(File, string) error { return errors.ErrUnsupported }
