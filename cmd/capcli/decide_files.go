package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// diskFolder keeps the files of a decision in a folder, which it makes where it is missing.
type diskFolder struct {
	e       *env
	path    string
	lasting bool // the files are results: each is safely on the disk before it has its name
}

// Read returns a file.
func (f *diskFolder) Read(name string) ([]byte, error) {
	file, err := f.e.disk.Open(filepath.Join(f.path, name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(file)
}

// Write writes a file as a whole. A file of a cache is not forced to the disk: one that a crash cuts
// short is damaged, and is made anew.
func (f *diskFolder) Write(name string, text []byte) error {
	path := filepath.Join(f.path, name)
	if err := f.e.disk.Mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	if f.lasting {
		return writeWhole(f.e, path, text)
	}
	parts := path + ".part"
	file, err := f.e.disk.Create(parts, 0o600)
	if errors.Is(err, fs.ErrExist) { // of a run that was killed
		_ = f.e.disk.Remove(parts)
		file, err = f.e.disk.Create(parts, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		_ = f.e.disk.Remove(parts)
		return err
	}
	return f.e.disk.Rename(parts, path)
}

// userCache returns the folder for what decisions keep; "" where the user has none.
func userCache(e *env) string {
	for _, at := range [][2]string{{"XDG_CACHE_HOME", ""}, {"LOCALAPPDATA", ""}, {"HOME", ".cache"}} {
		if base := e.getenv(at[0]); filepath.IsAbs(base) {
			return filepath.Join(base, at[1], "capcli", "decide")
		}
	}
	return ""
}

// buildText identifies the program: its version, and what its file says of the build, so that what
// another build kept is not used.
func buildText(e *env) string {
	text := versionText()
	if e.program == nil {
		return text
	}
	path, err := e.program()
	if err != nil {
		return text
	}
	info, err := e.disk.Stat(path)
	if err != nil {
		return text
	}
	return fmt.Sprintf("%s %d %d", text, info.Size(), info.ModTime().UnixNano())
}
