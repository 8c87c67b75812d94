module capcli

go 1.26
