package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"

	"capcli/profile/store"
)

// object is a file in a bucket.
type object struct {
	size int64
	tag  string // names its content
}

// slot waits for one of the requests that may be under way at once.
func (b *Bucket) slot() (free func(), err error) {
	select {
	case b.slots <- struct{}{}:
		return func() { <-b.slots }, nil
	case <-b.ctx.Done():
		return nil, context.Cause(b.ctx)
	}
}

func (b *Bucket) requestContext(n int64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, b.o.Wait*time.Duration(b.o.Retries)+time.Duration(n/leastRate)*time.Second)
}

// request waits for a slot and returns the context of a request of n bytes, and what ends both.
func (b *Bucket) request(n int64) (ctx context.Context, end func(), err error) {
	free, err := b.slot()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := b.requestContext(n)
	return ctx, func() {
		cancel()
		free()
	}, nil
}

// walk calls yield for all objects whose key begins with prefix, in order of key. Where deep is
// false it groups those with a further slash under one name that ends in a slash. A page of an
// answer holds a thousand.
func (b *Bucket) walk(prefix string, deep bool, yield func(key string, o object)) error {
	free, err := b.slot()
	if err != nil {
		return err
	}
	defer free()
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	for one := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix, Recursive: deep}) {
		if one.Err != nil {
			return b.fault(prefix, one.Err)
		}
		yield(one.Key, object{one.Size, one.ETag})
	}
	return b.fault(prefix, context.Cause(b.ctx))
}

// fetch reads n bytes at off of an object that has the tag. It asks again where the answer is cut
// short. It fails with store.ErrChanged where the object is gone or has another tag.
func (b *Bucket) fetch(key, tag string, off, n int64) ([]byte, error) {
	free, err := b.slot()
	if err != nil {
		return nil, err
	}
	defer free()
	p := make([]byte, n)
	have := int64(0)
	for try := 0; ; try++ {
		got, err := b.fetchOnce(key, tag, off+have, p[have:])
		have += int64(got)
		switch {
		case err == nil:
			return p, nil
		case isGone(err):
			return nil, b.fault(key, store.ErrChanged)
		case !errors.Is(err, io.ErrUnexpectedEOF) || try == b.o.Retries || b.ctx.Err() != nil:
			return nil, b.fault(key, err)
		}
	}
}

// fetchOnce makes one request. got bytes of p are read also where it fails.
func (b *Bucket) fetchOnce(key, tag string, off int64, p []byte) (got int, err error) {
	ctx, cancel := b.requestContext(int64(len(p)))
	defer cancel()
	var o minio.GetObjectOptions
	if err := o.SetRange(off, off+int64(len(p))-1); err != nil {
		return 0, err
	}
	if tag != "" {
		if err := o.SetMatchETag(tag); err != nil {
			return 0, err
		}
	}
	core := minio.Core{Client: b.client}
	body, info, header, err := core.GetObject(ctx, b.name, key, o)
	if err != nil {
		return 0, b.fault(key, err)
	}
	defer body.Close() //nolint:errcheck // it was only read
	if at := header.Get("Content-Range"); at == "" && off > 0 {
		return 0, b.fault(key, errors.New("the server does not read parts of objects"))
	}
	if tag != "" && info.ETag != "" && info.ETag != tag {
		return 0, store.ErrChanged
	}
	got, err = io.ReadFull(body, p)
	if err == io.EOF { //nolint:errorlint // ReadFull returns it as it is
		err = io.ErrUnexpectedEOF
	}
	if err != nil && b.ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err) // a broken connection is one as well
	}
	return got, err
}

// countedBody counts the bytes of an answer.
type countedBody struct {
	io.ReadCloser
	b *Bucket
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.b.bytes.Add(int64(n))
	return n, err
}
