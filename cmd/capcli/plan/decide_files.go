package plan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"capcli/cmd/shell"
)

// diskFolder keeps the files of a decision in a folder, which it makes where it is missing.
type diskFolder struct {
	e       *shell.Env
	path    string
	lasting bool // the files are results: each is safely on the disk before it has its name
}

// Read returns a file.
func (f *diskFolder) Read(name string) ([]byte, error) {
	file, err := f.e.Disk.Open(filepath.Join(f.path, name))
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
	if err := f.e.Disk.Mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	if f.lasting {
		return shell.WriteWhole(f.e, path, text)
	}
	parts := path + ".part"
	file, err := f.e.Disk.Create(parts, 0o600)
	if errors.Is(err, fs.ErrExist) { // of a run that was killed
		_ = f.e.Disk.Remove(parts)
		file, err = f.e.Disk.Create(parts, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		_ = f.e.Disk.Remove(parts)
		return err
	}
	return f.e.Disk.Rename(parts, path)
}

// userCache returns the folder for what decisions keep; "" where the user has none.
func userCache(e *shell.Env) string {
	for _, at := range [][2]string{{"XDG_CACHE_HOME", ""}, {"LOCALAPPDATA", ""}, {"HOME", ".cache"}} {
		if base := e.Getenv(at[0]); filepath.IsAbs(base) {
			return filepath.Join(base, at[1], "capcli", "decide")
		}
	}
	return ""
}

// buildText identifies the program: its version, and what its file says of the build, so that what
// another build kept is not used.
func buildText(e *shell.Env) string {
	text := shell.VersionText()
	if e.Program == nil {
		return text
	}
	path, err := e.Program()
	if err != nil {
		return text
	}
	info, err := e.Disk.Stat(path)
	if err != nil {
		return text
	}
	return fmt.Sprintf("%s %d %d", text, info.Size(), info.ModTime().UnixNano())
}
