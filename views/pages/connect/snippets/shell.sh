export COUNTERSIGN_SERVER="@SERVER@"
export COUNTERSIGN_TOKEN="@TOKEN@"
countersign ask send_email --input '{"to": "ann@example.com"}' && echo "approved: it may run"
