// Package bucket reads and writes folders of package store in buckets of object stores that speak
// S3: Amazon S3, MinIO, Ceph, Garage and others.
//
// A bucket holds the same names as a folder, below a prefix:
//
//	s3://gpu-profiles/fleet/date=2026-11-20/host=gpu-07/samples-….parquet
//	s3://gpu-profiles/fleet/.boxes/host=gpu-07.json
//
// The second is the claim of a box to the name of its host (Upload).
//
// Reading asks for what a question needs: the folders of its days and hosts, the ends of files, in
// which their contents are described, and the columns of row groups. A file changed meanwhile is
// found by its tag, and each page of a file by its checksum.
package bucket
