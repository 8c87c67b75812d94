package main

import (
	"context"
	"fmt"
	"io"

	"capcli"
	"capcli/cmd/files"
	"capcli/profile/bucket"
	"capcli/profile/store"
)

// openFolders opens the folders dirs that capcli profile wrote, as one.
func openFolders(e *env, dirs []string) (*store.Folders, error) {
	if len(dirs) == 0 {
		return nil, &usageError{text: "name the folder that capcli profile wrote: DIR is missing", hint: "capcli profile summary " + defaultProfile}
	}
	var all []store.Folder
	for _, dir := range dirs {
		f, err := e.profileFolder(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return store.OpenFolders(all), nil
}

// profileFolder returns the folder dir of this box, or of a bucket: s3://BUCKET/PREFIX.
func (e *env) profileFolder(dir string) (store.Folder, error) {
	if bucket.IsName(dir) {
		b, err := e.bucket(dir)
		if err != nil {
			return store.Folder{}, err
		}
		return store.Folder{Name: dir, Disk: b.Disk()}, nil
	}
	if _, err := e.disk.Stat(dir); err != nil {
		return store.Folder{}, files.OpenError(dir, err)
	}
	return store.Folder{Name: dir, Root: dir}, nil
}

// bucket returns the folder of a bucket. Its requests end with the running command.
func (e *env) bucket(name string) (*bucket.Bucket, error) {
	ctx := context.Background()
	if e.cmd != nil && e.cmd.Context() != nil {
		ctx = e.cmd.Context()
	}
	o := bucket.Options{Getenv: e.getenv}
	if file := e.getenv("AWS_CA_BUNDLE"); file != "" {
		f, err := e.disk.Open(file)
		if err != nil {
			return nil, files.OpenError(file, err)
		}
		defer f.Close() //nolint:errcheck // it was only read
		if o.Authorities, err = io.ReadAll(io.LimitReader(f, 4<<20)); err != nil {
			return nil, err
		}
	}
	b, err := bucket.Open(ctx, name, o)
	if err == nil && e.verbose {
		e.buckets = append(e.buckets, b)
	}
	return b, err
}

// noteTraffic tells what buckets were asked for, with -v.
func (e *env) noteTraffic() {
	for _, b := range e.buckets {
		requests, bytes := b.Traffic()
		e.note(fmt.Sprintf("%v: %s requests, %s bytes", b, capcli.Grouped(requests), capcli.Grouped(bytes)))
	}
}
