go run main.go
