package shell

import (
	"context"
	"fmt"
	"io"

	"capcli"
	"capcli/cmd/files"
	"capcli/profile/bucket"
	"capcli/profile/store"
)

// ProfileFolder returns the folder dir of this box, or of a bucket: s3://BUCKET/PREFIX.
func (e *Env) ProfileFolder(dir string) (store.Folder, error) {
	if bucket.IsName(dir) {
		b, err := e.Bucket(dir)
		if err != nil {
			return store.Folder{}, err
		}
		return store.Folder{Name: dir, Disk: b.Disk()}, nil
	}
	if _, err := e.Disk.Stat(dir); err != nil {
		return store.Folder{}, files.OpenError(dir, err)
	}
	return store.Folder{Name: dir, Root: dir}, nil
}

// Bucket returns the folder of a bucket. Its requests end with the running command.
func (e *Env) Bucket(name string) (*bucket.Bucket, error) {
	ctx := context.Background()
	if e.Cmd != nil && e.Cmd.Context() != nil {
		ctx = e.Cmd.Context()
	}
	o := bucket.Options{Getenv: e.Getenv}
	if file := e.Getenv("AWS_CA_BUNDLE"); file != "" {
		f, err := e.Disk.Open(file)
		if err != nil {
			return nil, files.OpenError(file, err)
		}
		defer f.Close() //nolint:errcheck // it was only read
		if o.Authorities, err = io.ReadAll(io.LimitReader(f, 4<<20)); err != nil {
			return nil, err
		}
	}
	b, err := bucket.Open(ctx, name, o)
	if err == nil && e.Verbose {
		e.buckets = append(e.buckets, b)
	}
	return b, err
}

// noteTraffic tells what buckets were asked for, with -v.
func (e *Env) noteTraffic() {
	for _, b := range e.buckets {
		requests, bytes := b.Traffic()
		e.Note(fmt.Sprintf("%v: %s requests, %s bytes", b, capcli.Grouped(requests), capcli.Grouped(bytes)))
	}
}
