package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"capcli"
)

// uploadName is the name of the record of uploads, in the folder of the segments of a host.
const uploadName = "uploaded.json"

// maxRecord is the limit of a record of uploads in bytes: about a century of days.
const maxRecord = 64 << 20

// Upload records what was uploaded of a host. Where there is a record, Prune removes only days
// that it lists. It survives crashes: it is replaced as a whole.
type Upload struct {
	Version int    `json:"version"`
	Host    string `json:"host"`
	// Box is a random name of this folder's recording of the host. A bucket has it, too, so that
	// two boxes of one host name are told apart.
	Box  string                    `json:"box"`
	To   string                    `json:"to"` // where to: s3://bucket/prefix
	Days map[string][]UploadedFile `json:"days,omitempty"`
}

// UploadedFile is a file that is in the bucket.
type UploadedFile struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256"`
	Tag      string `json:"tag"`      // the bucket's name of this content (ETag)
	Segments string `json:"segments"` // numbers of the segments in it, as ranges
}

// recordVersion is the version of Upload.
const recordVersion = 1

func uploadPath(root, host string) string {
	return path.Join(root, logFolder, hostFolder(host), uploadName)
}

// ReadUpload reads the record of uploads of a host; nil where there is none. It fails with
// *capcli.InputError where the record is damaged.
func ReadUpload(disk Disk, root, host string) (*Upload, error) {
	name := uploadPath(root, host)
	f, err := disk.Open(name)
	if isGone(err) {
		return nil, nil //nolint:nilnil // no record is no error
	}
	if err != nil {
		return nil, diskFault("opening", name, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	size, err := f.Size()
	if err != nil {
		return nil, diskFault("reading", name, err)
	}
	bad := func(text string) error {
		return &capcli.InputError{File: name, Text: text, Hint: "restore it, or move it away and upload again: until then no day is removed"}
	}
	if size > maxRecord {
		return nil, bad(fmt.Sprintf("record of uploads of %d bytes, over the limit of %d", size, maxRecord))
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); n < len(b) {
		return nil, diskFault("reading", name, err)
	}
	u, err := parseUpload(b, host)
	if err != nil {
		return nil, bad(err.Error())
	}
	return u, nil
}

func parseUpload(b []byte, host string) (*Upload, error) {
	u := &Upload{}
	if err := json.Unmarshal(b, u); err != nil {
		return nil, fmt.Errorf("expected a record of uploads: %w", err)
	}
	switch {
	case u.Version != recordVersion:
		return nil, fmt.Errorf("record of uploads of version %d, expected %d", u.Version, recordVersion)
	case u.Host != host:
		return nil, fmt.Errorf("record of uploads of host %q, expected %q", u.Host, host)
	case u.Box == "" || u.To == "":
		return nil, errors.New("record of uploads without its box or bucket")
	}
	return u, nil
}

// Write replaces the record of its host.
func (u *Upload) Write(disk Disk, root string) error {
	u.Version = recordVersion
	name := uploadPath(root, u.Host)
	b, err := json.MarshalIndent(u, "", " ")
	if err != nil {
		return err
	}
	if err := disk.MakeDir(path.Dir(name)); err != nil {
		return diskFault("creating", path.Dir(name), err)
	}
	f, err := disk.Create(name + ".tmp")
	if err != nil {
		return diskFault("creating", name, err)
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = disk.Rename(name+".tmp", name)
	}
	if err == nil {
		err = disk.SyncDir(path.Dir(name))
	}
	return diskFault("writing", name, err)
}

// missing returns the name of a file that the record does not list under day with its size; ""
// where it lists all.
func (u *Upload) missing(day string, files []Entry) string {
	for _, f := range files {
		if !slices.ContainsFunc(u.Days[day], func(up UploadedFile) bool { return up.Name == f.Name && up.Size == f.Size }) {
			return f.Name
		}
	}
	return ""
}
